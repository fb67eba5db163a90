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

  // The values of within: the token that contains the next byte.
  private static final int STRUCTURE = 0;

  /** An object or array that is not in the grammar. */
  private static final int UNKNOWN = 1;

  private static final int STRING = 2;

  /** The first byte of a {@link NodeType#CONTENT} string. */
  private static final int CONTENT = 3;

  /** A key or a {@link NodeType#KEYWORD}. */
  private static final int HASHED = 4;

  private static final int TEXT = 5;
  private static final int LITERAL = 6;

  /** A bit that is added to a string's state for the byte after a backslash. */
  private static final int ESCAPED = 8;

  /** Larger counts are ignored, so that they cannot overflow. */
  private static final long MAX_NUMBER = Long.MAX_VALUE / 32;

  private final Grammar grammar;
  private final JsonSink sink;
  private final JsonCursor cursor;
  private final StringHash hash = new StringHash();
  private final ShortText text = new ShortText();

  private int within = STRUCTURE;

  /** The number of open objects and arrays that are not in the grammar. */
  private int unknownDepth;

  /** Set until the first byte of a document is read. */
  private boolean fresh = true;

  private long number;
  private long letters;
  private long nowNanos;
  private int contentAt = -1;
  private int range = NodeType.NOTHING;
  private int rangeFrom;

  /** Creates a scanner at the beginning of a document. */
  public JsonScanner(Grammar grammar, JsonSink sink) {
    this.grammar = grammar;
    this.sink = sink;
    this.cursor = new JsonCursor(grammar);
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
      cursor.restart();
      unknownDepth = 0;
      range = NodeType.NOTHING;
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
            case HASHED -> hashed(bytes, at, end);
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
        case '"' -> at = cursor.keyNext ? openKey(bytes, at, end) : openString(bytes, at, end);
        case ':' -> cursor.keyNext = false;
        case ',' -> {
          endRange(at - 1);
          cursor.comma();
        }
        case '{', '[' -> open(next, at - 1);
        case '}', ']' -> {
          endRange(at - 1);
          sink.leaves(cursor.leave());
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
    if ((cursor.value & NodeType.RANGE) != 0) {
      range = cursor.value;
      rangeFrom = at;
    }
  }

  private void endRange(int at) {
    if (range != NodeType.NOTHING) {
      sink.range(range, rangeFrom, at);
      range = NodeType.NOTHING;
    }
  }

  private void open(byte bracket, int at) {
    beginRange(at);
    int node = cursor.value;
    if (cursor.enter(bracket)) {
      sink.enters(node, nowNanos);
    } else {
      unknownDepth = 1;
      within = UNKNOWN;
    }
  }

  private int openKey(ByteBuffer bytes, int from, int end) {
    hash.clear();
    within = HASHED;
    int at = hash.read(bytes, from, end);
    // Fast path for most keys; hashed() handles the others.
    if (end - at > 1 && bytes.get(at) == '"' && bytes.get(at + 1) == ':') {
      cursor.key(hash.value());
      cursor.keyNext = false;
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
    hash.clear();
    text.clear();
    return at;
  }

  private int kindOfString() {
    int node = cursor.value;
    if ((node & NodeType.CONTENT) != 0) {
      return CONTENT;
    }
    if ((node & NodeType.KEYWORD) != 0) {
      return HASHED;
    }
    return (node & NodeType.TEXT) != 0 && sink.wants(node) ? TEXT : STRING;
  }

  private int openLiteral(ByteBuffer bytes, int at, int end) {
    beginRange(at - 1);
    if ((cursor.value & (NodeType.COUNT | NodeType.LITERAL)) != 0
        && !EightBytes.isBlank(bytes.get(at - 1))) {
      within = LITERAL;
      number = 0;
      letters = 0;
      return literal(bytes, at - 1, end);
    }
    return cursor.keyNext ? at : EightBytes.endOfPlain(bytes, at, end);
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
      sink.present(cursor.value, nowNanos);
      contentAt = contentAt < 0 ? at : contentAt;
    }
    within = STRING;
    return string(bytes, at, end);
  }

  private int hashed(ByteBuffer bytes, int from, int end) {
    int at = hash.read(bytes, from, end);
    if (at < end) {
      byte next = bytes.get(at);
      if (next == '"') {
        hashedEnds();
      } else if (next == '\\') {
        cursor.value = NodeType.NOTHING;
        within = STRING;
      }
      return ended(bytes, at);
    }
    return at;
  }

  private void hashedEnds() {
    if (cursor.keyNext) {
      cursor.key(hash.value());
      return;
    }
    sink.keyword(cursor.value, grammar.find(cursor.value, hash.value()), cursor);
  }

  private int text(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end && !EightBytes.endsText(bytes.get(at))) {
      text.add(bytes.get(at++));
    }
    if (at < end) {
      if (bytes.get(at) == '"') {
        sink.text(cursor.value, text);
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
      number = digit && number <= MAX_NUMBER ? number * 10 + next - '0' : -1;
      letters = letters << Byte.SIZE | (next & 0xff);
    }
    return end;
  }

  private void literalEnds() {
    within = STRUCTURE;
    if ((cursor.value & NodeType.LITERAL) != 0) {
      sink.literal(cursor.value, letters);
    } else if (number >= 0 && number <= MAX_NUMBER) {
      sink.count(cursor.value, number, nowNanos);
    }
  }
}
