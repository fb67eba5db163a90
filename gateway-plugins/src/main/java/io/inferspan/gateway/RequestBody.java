package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.epp.values.ShortValues;
import io.inferspan.semconv.GenAiAttributes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What a client asks for, as the gateway says or as its JSON body tells while it passes.
 *
 * <p>Of a body only three members of the outermost object are read, in pieces of any size; nothing
 * else is kept. It does not check: of what is no JSON it makes something, or nothing.
 */
final class RequestBody {

  /** Of requests that nobody watches, and that tell nothing. */
  static final RequestBody UNSEEN = new RequestBody();

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;

  /** Digits of a limit that cannot overflow. */
  private static final int MAX_DIGITS = 18;

  // What the next byte belongs to.
  private static final int STRUCTURE = 0;
  private static final int STRING = 1;
  private static final int KEPT_STRING = 2;
  private static final int LITERAL = 3;
  private static final int OVER = 4;

  private static final byte[] NOTHING = {};

  /** Made with the first byte that is kept: most requests are seen by nobody. */
  private byte[] kept = NOTHING;

  private int length;
  private int within = STRUCTURE;
  private long depth;
  private boolean escaped;
  private boolean keyNext;
  private String key = "";

  private @Nullable String model;
  private @Nullable Boolean stream;
  private long maxTokens = -1;

  void model(String name) {
    model = ShortValues.of(name);
  }

  void stream(boolean wanted) {
    stream = wanted;
  }

  void maxTokens(long count) {
    maxTokens = count;
  }

  @Nullable String model() {
    return model;
  }

  void describe(OperationSpan span) {
    span.set(GenAiAttributes.REQUEST_MODEL, model).set(GenAiAttributes.REQUEST_STREAM, stream);
    if (maxTokens >= 0) {
      span.set(GenAiAttributes.REQUEST_MAX_TOKENS, maxTokens);
    }
  }

  /** Looks at the bytes between position and limit. */
  void see(ByteBuffer bytes) {
    try {
      int at = bytes.position();
      int end = bytes.limit();
      while (at < end && within != OVER) {
        at =
            switch (within) {
              case STRUCTURE -> structure(bytes, at, end);
              case STRING -> string(bytes, at, end);
              case KEPT_STRING -> keptString(bytes, at, end);
              default -> literal(bytes, at, end);
            };
      }
    } catch (RuntimeException unreadable) {
      // Such as memory that was closed meanwhile: whoever owns it will find out.
      within = OVER;
    }
  }

  private int structure(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end && within == STRUCTURE) {
      byte next = bytes.get(at++);
      switch (next) {
        case '"' -> openString();
        case '{', '[' -> open(next);
        case '}', ']' -> close();
        case ',' -> keyNext = depth == 1;
        case ':' -> keyNext = false;
        default -> {
          if (depth == 1 && !keyNext && next > ' ' && isWanted()) {
            within = LITERAL;
            length = 0;
            at--;
          }
        }
      }
    }
    return at;
  }

  private void openString() {
    boolean keeps = depth == 1 && (keyNext || key.equals("model"));
    within = keeps ? KEPT_STRING : STRING;
    length = 0;
    if (kept.length == 0) {
      kept = new byte[ShortValues.MAX_CHARS + 1];
    }
  }

  private void open(byte bracket) {
    if (depth == 0 && bracket == '[') {
      within = OVER;
    }
    depth++;
    keyNext = depth == 1;
  }

  private void close() {
    depth--;
    keyNext = false;
    if (depth <= 0) {
      within = OVER;
    }
  }

  private boolean isWanted() {
    return switch (key) {
      case "stream", "max_tokens", "max_completion_tokens", "max_output_tokens" -> true;
      default -> false;
    };
  }

  private int string(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end) {
      if (!escaped) {
        at = endOfPlain(bytes, at, end);
        if (at == end) {
          return end;
        }
      }
      byte next = bytes.get(at++);
      if (escaped) {
        escaped = false;
      } else if (next == '\\') {
        escaped = true;
      } else {
        within = STRUCTURE;
        return at;
      }
    }
    return at;
  }

  /** Where the next quote or backslash is, or {@code end}: prompts are long. */
  private static int endOfPlain(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (end - at >= Long.BYTES) {
      long eight = (long) LONGS.get(bytes, at);
      long quotes = eight ^ (ONES * '"');
      long backslashes = eight ^ (ONES * '\\');
      long found = (((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes)) & HIGHS;
      if (found != 0) {
        return at + (Long.numberOfTrailingZeros(found) >>> 3);
      }
      at += Long.BYTES;
    }
    while (at < end && bytes.get(at) != '"' && bytes.get(at) != '\\') {
      at++;
    }
    return at;
  }

  private int keptString(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end) {
      byte next = bytes.get(at++);
      if (escaped) {
        escaped = false;
        keep(next == '/' || next == '"' || next == '\\' ? next : (byte) '?');
      } else if (next == '\\') {
        escaped = true;
      } else if (next == '"') {
        within = STRUCTURE;
        stringEnds();
        return at;
      } else {
        keep(next);
      }
    }
    return at;
  }

  private void keep(byte next) {
    if (length < kept.length) {
      kept[length++] = next;
    }
  }

  private String text() {
    return new String(kept, 0, length, StandardCharsets.UTF_8);
  }

  private void stringEnds() {
    if (keyNext) {
      key = text();
    } else {
      model = ShortValues.of(text());
    }
  }

  private int literal(ByteBuffer bytes, int from, int end) {
    for (int at = from; at < end; at++) {
      byte next = bytes.get(at);
      if (next == ',' || next == '}' || next == ']' || (next >= 0 && next <= ' ')) {
        within = STRUCTURE;
        literalEnds(text());
        return at;
      }
      keep(next);
    }
    return end;
  }

  private void literalEnds(String text) {
    if (key.equals("stream")) {
      stream = text.equals("true") ? Boolean.TRUE : text.equals("false") ? Boolean.FALSE : stream;
    } else if (text.length() <= MAX_DIGITS && isDigits(text)) {
      maxTokens = Long.parseLong(text);
    }
  }

  private static boolean isDigits(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < '0' || text.charAt(i) > '9') {
        return false;
      }
    }
    return !text.isEmpty();
  }
}
