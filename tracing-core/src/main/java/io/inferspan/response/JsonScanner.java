package io.inferspan.response;

import java.nio.ByteBuffer;

/**
 * Reads JSON in pieces, where it lies, and tells {@link ResponseFacts} what stands at the places of
 * the {@link Grammar}.
 *
 * <p>It does not check: of what is no JSON it makes something, the same for every way to cut it.
 * Keys that are written with escapes are not known.
 */
final class JsonScanner {

  // What the next byte belongs to.
  private static final int STRUCTURE = 0;

  /** An object or list that means nothing. */
  private static final int UNKNOWN = 1;

  private static final int STRING = 2;

  /** The very first byte of a string that may be empty. */
  private static final int CONTENT = 3;

  private static final int WORD = 4;
  private static final int TEXT = 5;
  private static final int LITERAL = 6;

  /** With one of the strings: the byte behind a backslash. */
  private static final int ESCAPED = 8;

  private static final long DONE = 'D' << 24 | 'O' << 16 | 'N' << 8 | 'E';

  /** Counts are cut there, far from overflow. */
  private static final long MOST = Long.MAX_VALUE / 32;

  private final ResponseFacts facts;
  private final JsonPath path = new JsonPath();
  private final Word word = new Word();
  private final ShortText text = new ShortText();

  private int within = STRUCTURE;

  /** Open objects and lists that mean nothing. */
  private int unknownDepth;

  private boolean fresh = true;
  private long number;
  private long letters;
  private long nowNanos;

  /** Where the first text of a token begins in the bytes at hand; negative before there is one. */
  int tokenText;

  JsonScanner(ResponseFacts facts) {
    this.facts = facts;
  }

  /** Forgets where it is: a new document begins. */
  void restart() {
    if (!fresh) {
      within = STRUCTURE;
      path.restart();
      unknownDepth = 0;
      fresh = true;
      facts.eventBegins();
    }
  }

  /** Reads on, up to {@code end} or to a line break, and returns where it stopped. */
  int scan(ByteBuffer bytes, int from, int end, long nowNanos) {
    this.nowNanos = nowNanos;
    fresh = false;
    int at = from;
    // A line break ends a literal and is nothing to a string.
    while (at < end && (within == LITERAL || !EightBytes.isBreak(bytes.get(at)))) {
      at =
          switch (within) {
            case STRUCTURE -> structure(bytes, at, end);
            case UNKNOWN -> unknown(bytes, at, end);
            case STRING -> string(bytes, at, end);
            case CONTENT -> content(bytes, at, end);
            case WORD -> word(bytes, at, end);
            case TEXT -> text(bytes, at, end);
            case LITERAL -> literal(bytes, at, end);
            default -> escaped(bytes, at);
          };
    }
    return at;
  }

  private int structure(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end && within == STRUCTURE) {
      byte next = bytes.get(at++);
      switch (next) {
        case '"' -> at = path.keyNext ? openKey(bytes, at, end) : openString(bytes, at, end);
        case ':' -> path.keyNext = false;
        case ',' -> path.comma();
        case '{', '[' -> open(next);
        case '}', ']' -> facts.ends(path.leave());
        case '\n', '\r' -> {
          return at - 1;
        }
        case ' ', '\t' -> {}
        default -> at = openLiteral(bytes, at, end);
      }
    }
    return at;
  }

  private void open(byte bracket) {
    boolean error = path.value == Place.ERROR;
    if (!path.enter(bracket)) {
      unknownDepth = 1;
      within = UNKNOWN;
    } else if (error) {
      facts.present(Place.ERROR, nowNanos);
    }
  }

  private int openKey(ByteBuffer bytes, int from, int end) {
    word.clear();
    within = WORD;
    int at = word.read(bytes, from, end);
    // Nearly every key ends like this and is passed at once; whatever else comes is left to word().
    if (end - at > 1 && bytes.get(at) == '"' && bytes.get(at + 1) == ':') {
      path.key(word.number());
      path.keyNext = false;
      within = STRUCTURE;
      return at + 2;
    }
    return at;
  }

  private int openString(ByteBuffer bytes, int at, int end) {
    within = kindOfString();
    if (within == STRING) {
      return string(bytes, at, end);
    }
    word.clear();
    text.clear();
    return at;
  }

  private int kindOfString() {
    int place = path.value;
    if ((place & Place.CONTENT) != 0) {
      return CONTENT;
    }
    if ((place & Place.WORD) != 0) {
      return WORD;
    }
    boolean known = place == Place.MODEL && !facts.model.isEmpty();
    return (place & Place.TEXT) != 0 && !known ? TEXT : STRING;
  }

  private int openLiteral(ByteBuffer bytes, int at, int end) {
    if ((path.value & (Place.COUNT | Place.MARK)) != 0 && !EightBytes.isBlank(bytes.get(at - 1))) {
      within = LITERAL;
      number = 0;
      letters = 0;
      return literal(bytes, at - 1, end);
    }
    return path.keyNext ? at : EightBytes.endOfPlain(bytes, at, end);
  }

  private int unknown(ByteBuffer bytes, int from, int end) {
    int at = from;
    while ((at = EightBytes.endOfPlain(bytes, at, end)) < end) {
      switch (bytes.get(at)) {
        case '"' -> {
          within = STRING;
          return at + 1;
        }
        case '{', '[' -> unknownDepth++;
        case '}', ']' -> {
          if (--unknownDepth == 0) {
            within = STRUCTURE;
            return at + 1;
          }
        }
        case '\n', '\r' -> {
          return at;
        }
        default -> {}
      }
      at++;
    }
    return at;
  }

  private int string(ByteBuffer bytes, int from, int end) {
    int at = EightBytes.endOfText(bytes, from, end);
    return at < end ? ended(bytes, at) : at;
  }

  /** Goes on behind what ended a run of a string's bytes, or stays before a line break. */
  private int ended(ByteBuffer bytes, int at) {
    byte next = bytes.get(at);
    if (EightBytes.isBreak(next)) {
      return at;
    }
    if (next == '\\') {
      within |= ESCAPED;
    } else {
      within = unknownDepth > 0 ? UNKNOWN : STRUCTURE;
    }
    return at + 1;
  }

  private int escaped(ByteBuffer bytes, int at) {
    byte next = bytes.get(at);
    within ^= ESCAPED;
    if (within == TEXT) {
      text.add(next == '/' || next == '\\' || next == '"' ? next : (byte) '?');
    }
    return at + 1;
  }

  private int content(ByteBuffer bytes, int at, int end) {
    if (bytes.get(at) != '"') {
      facts.present(path.value, nowNanos);
      tokenText = tokenText < 0 ? at : tokenText;
    }
    within = STRING;
    return string(bytes, at, end);
  }

  private int word(ByteBuffer bytes, int from, int end) {
    int at = word.read(bytes, from, end);
    if (at < end) {
      byte next = bytes.get(at);
      if (next == '"') {
        wordEnds();
      } else if (next == '\\') {
        path.value = Place.NOTHING;
        within = STRING;
      }
      return ended(bytes, at);
    }
    return at;
  }

  private void wordEnds() {
    if (path.keyNext) {
      path.key(word.number());
      return;
    }
    int meaning = Grammar.find(path.value, word.number());
    facts.word(meaning);
    if (path.value == Place.KIND && meaning == Place.FAILURE) {
      path.isErrorObject();
    }
  }

  private int text(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end && !EightBytes.endsText(bytes.get(at))) {
      text.add(bytes.get(at++));
    }
    if (at < end) {
      if (bytes.get(at) == '"') {
        facts.text(path.value, text);
      }
      return ended(bytes, at);
    }
    return at;
  }

  private int literal(ByteBuffer bytes, int from, int end) {
    for (int at = from; at < end; at++) {
      byte next = bytes.get(at);
      if (next == ',' || next == '}' || next == ']' || EightBytes.isBlank(next)) {
        literalEnds();
        return at;
      }
      boolean digit = next >= '0' && next <= '9' && number >= 0;
      number = digit ? Math.min(MOST, number * 10 + next - '0') : -1;
      letters = letters << Byte.SIZE | (next & 0xff);
    }
    return end;
  }

  private void literalEnds() {
    within = STRUCTURE;
    if (path.value == Place.MARK && letters == DONE) {
      facts.word(Place.END);
    } else if (path.value != Place.MARK && number >= 0) {
      facts.count(path.value, number, nowNanos);
    }
  }
}
