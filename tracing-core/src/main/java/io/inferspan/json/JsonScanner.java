package io.inferspan.json;

import java.nio.ByteBuffer;

/**
 * Reads JSON in pieces of any size, without copying them. Passes the values that a {@link Grammar}
 * selects to a {@link JsonSink}.
 *
 * <p>It does not validate: invalid JSON gives an arbitrary result, which does not depend on how the
 * input is split. Keys that contain escapes are not recognised.
 */
public final class JsonScanner {

  // What the next byte belongs to.
  private static final int STRUCTURE = 0;

  /** An object or array that is not in the grammar. */
  private static final int UNKNOWN = 1;

  private static final int STRING = 2;

  /** The first byte of a string at a {@link Places#CONTENT}. */
  private static final int CONTENT = 3;

  private static final int WORD = 4;
  private static final int TEXT = 5;
  private static final int LITERAL = 6;

  /** The byte after a backslash; combined with the kind of the string. */
  private static final int ESCAPED = 8;

  /** Larger counts are ignored, so that they cannot overflow. */
  private static final long MOST = Long.MAX_VALUE / 32;

  private final Grammar grammar;
  private final JsonSink sink;
  private final JsonPath path;
  private final Word word = new Word();
  private final ShortText text = new ShortText();

  private int within = STRUCTURE;

  /** The number of open objects and arrays that are not in the grammar. */
  private int unknownDepth;

  private boolean fresh = true;
  private long number;
  private long letters;
  private long nowNanos;
  private int contentAt = -1;
  private int range = Places.NOTHING;
  private int rangeFrom;

  /** Creates a scanner at the beginning of a document. */
  public JsonScanner(Grammar grammar, JsonSink sink) {
    this.grammar = grammar;
    this.sink = sink;
    this.path = new JsonPath(grammar);
  }

  /** Returns the index of the first content in the current bytes; negative if there is none. */
  public int contentAt() {
    return contentAt;
  }

  /** Clears the index of the first content. */
  public void forgetContent() {
    contentAt = -1;
  }

  /** Restarts at the beginning of a new document. */
  public void restart() {
    if (!fresh) {
      within = STRUCTURE;
      path.restart();
      unknownDepth = 0;
      range = Places.NOTHING;
      fresh = true;
      sink.begins();
    }
  }

  /** Ends the document, possibly in the middle of a value. */
  public void end(int at) {
    endRange(at);
  }

  /** Continues up to {@code end} or a line break, and returns the position where it stopped. */
  public int scan(ByteBuffer bytes, int from, int end, long nowNanos) {
    this.nowNanos = nowNanos;
    fresh = false;
    int at = from;
    // A line break ends a literal and is ignored in a string.
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
        case ',' -> {
          endRange(at - 1);
          path.comma();
        }
        case '{', '[' -> open(next, at - 1);
        case '}', ']' -> {
          endRange(at - 1);
          sink.leaves(path.leave());
        }
        case '\n', '\r' -> {
          return at - 1;
        }
        case ' ', '\t' -> {}
        default -> at = openLiteral(bytes, at, end);
      }
    }
    return at;
  }

  private void beginRange(int at) {
    if ((path.value & Places.RANGE) != 0) {
      range = path.value;
      rangeFrom = at;
    }
  }

  private void endRange(int at) {
    if (range != Places.NOTHING) {
      sink.range(range, rangeFrom, at);
      range = Places.NOTHING;
    }
  }

  private void open(byte bracket, int at) {
    beginRange(at);
    int place = path.value;
    if (path.enter(bracket)) {
      sink.enters(place, nowNanos);
    } else {
      unknownDepth = 1;
      within = UNKNOWN;
    }
  }

  private int openKey(ByteBuffer bytes, int from, int end) {
    word.clear();
    within = WORD;
    int at = word.read(bytes, from, end);
    // Fast path for most keys; word() handles the others.
    if (end - at > 1 && bytes.get(at) == '"' && bytes.get(at + 1) == ':') {
      path.key(word.number());
      path.keyNext = false;
      within = STRUCTURE;
      return at + 2;
    }
    return at;
  }

  private int openString(ByteBuffer bytes, int at, int end) {
    beginRange(at - 1);
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
    if ((place & Places.CONTENT) != 0) {
      return CONTENT;
    }
    if ((place & Places.WORD) != 0) {
      return WORD;
    }
    return (place & Places.TEXT) != 0 && sink.wants(place) ? TEXT : STRING;
  }

  private int openLiteral(ByteBuffer bytes, int at, int end) {
    beginRange(at - 1);
    if ((path.value & (Places.COUNT | Places.MARK)) != 0
        && !EightBytes.isBlank(bytes.get(at - 1))) {
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

  /** Continues after the byte that ended a run of string bytes, or stops before a line break. */
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
      sink.present(path.value, nowNanos);
      contentAt = contentAt < 0 ? at : contentAt;
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
        path.value = Places.NOTHING;
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
    sink.word(path.value, grammar.find(path.value, word.number()), path);
  }

  private int text(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end && !EightBytes.endsText(bytes.get(at))) {
      text.add(bytes.get(at++));
    }
    if (at < end) {
      if (bytes.get(at) == '"') {
        sink.text(path.value, text);
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
      number = digit && number <= MOST ? number * 10 + next - '0' : -1;
      letters = letters << Byte.SIZE | (next & 0xff);
    }
    return end;
  }

  private void literalEnds() {
    within = STRUCTURE;
    if ((path.value & Places.MARK) != 0) {
      sink.mark(path.value, letters);
    } else if (number >= 0 && number <= MOST) {
      sink.count(path.value, number, nowNanos);
    }
  }
}
