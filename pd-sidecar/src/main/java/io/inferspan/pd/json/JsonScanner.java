package io.inferspan.pd.json;

import io.inferspan.json.EightBytes;
import java.util.BitSet;

/**
 * Validates JSON text (RFC 8259, UTF-8) without building values.
 *
 * <p>Every {@code skip} takes the position of a first byte and returns the position after the last
 * one. Strings, which are most of a prompt, are read eight bytes at a time.
 */
final class JsonScanner {
  private static final long EACH = 0x0101010101010101L;
  private static final long HIGHEST_BITS = 0x8080808080808080L;

  /**
   * The characters allowed after a backslash, besides u. A table is fast, and code in prompts has
   * many escapes.
   */
  private static final boolean[] ESCAPED = new boolean[128];

  static {
    for (char c : "\"\\/bfnrt".toCharArray()) {
      ESCAPED[c] = true;
    }
  }

  private final byte[] json;
  private final int end;
  private final int maxDepth;

  /**
   * For each depth, whether the open container is an object. This is on the heap, so that no body
   * can overflow the stack.
   */
  private final BitSet objects = new BitSet();

  JsonScanner(byte[] json, int end, int maxDepth) {
    this.json = json;
    this.end = end;
    this.maxDepth = maxDepth;
  }

  /** Returns the byte at a position; at the end 0, which is never valid between values. */
  byte peek(int at) {
    return at < end ? json[at] : 0;
  }

  int skipSpace(int start) {
    int at = start;
    while (at < end && json[at] <= ' ' && isSpace(json[at])) {
      at++;
    }
    return at;
  }

  private static boolean isSpace(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  /** Skips one expected byte and the white space after it. */
  int skipMark(int at, char mark) throws InvalidJson {
    if (peek(at) != mark) {
      throw unexpected(at);
    }
    return skipSpace(at + 1);
  }

  int skipString(int at) throws InvalidJson {
    if (peek(at) != '"') {
      throw unexpected(at);
    }
    return skipText(at + 1);
  }

  /** Skips any value that stands inside {@code depth} containers. */
  int skipValue(int at, int depth) throws InvalidJson {
    return isOpening(peek(at)) ? skipContainer(at, depth) : skipScalar(at);
  }

  private int skipContainer(int start, int outerDepth) throws InvalidJson {
    int depth = outerDepth;
    int at = start;
    while (true) {
      if (isOpening(peek(at))) {
        open(depth++, at);
        at = skipSpace(at + 1);
        if (!isClosing(at, depth)) {
          at = skipKey(at, depth);
          continue;
        }
      } else {
        at = skipSpace(skipScalar(at));
      }
      while (isClosing(at, depth)) {
        if (--depth == outerDepth) {
          return at + 1;
        }
        at = skipSpace(at + 1);
      }
      at = skipKey(skipMark(at, ','), depth);
    }
  }

  private static boolean isOpening(byte b) {
    return b == '{' || b == '[';
  }

  private void open(int depth, int at) throws InvalidJson {
    if (depth >= maxDepth) {
      throw new InvalidJson("nested deeper than " + maxDepth + " levels");
    }
    objects.set(depth, json[at] == '{');
  }

  private boolean isClosing(int at, int depth) {
    return peek(at) == (objects.get(depth - 1) ? '}' : ']');
  }

  /** Skips a key and its colon if the container is an object. */
  private int skipKey(int at, int depth) throws InvalidJson {
    return objects.get(depth - 1) ? skipMark(skipSpace(skipString(at)), ':') : at;
  }

  private int skipScalar(int at) throws InvalidJson {
    return switch (peek(at)) {
      case '"' -> skipText(at + 1);
      case 't' -> skipWord(at, "true");
      case 'f' -> skipWord(at, "false");
      case 'n' -> skipWord(at, "null");
      default -> skipNumber(at);
    };
  }

  /**
   * Returns the position after the closing quote; {@code start} is the first byte inside the
   * quotes.
   */
  private int skipText(int start) throws InvalidJson {
    int at = skipPlain(start);
    while (at < end && json[at] != '"') {
      if (json[at] == '\\') {
        at = skipPlain(skipEscape(at));
      } else if (json[at] < 0) {
        at = skipPlain(skipNonAscii(at));
      } else {
        throw new InvalidJson("control character in a string at offset " + at);
      }
    }
    if (at >= end) {
      throw new InvalidJson("unterminated string at offset " + at);
    }
    return at + 1;
  }

  private int skipPlain(int start) {
    int at = start;
    for (; at <= end - Long.BYTES; at += Long.BYTES) {
      long special = special(EightBytes.at(json, at));
      if (special != 0) {
        return at + Long.numberOfTrailingZeros(special) / Byte.SIZE;
      }
    }
    while (at < end && special(json[at]) == 0) {
      at++;
    }
    return at;
  }

  /**
   * Sets the highest bit of the first of eight bytes that is a quote, a backslash, a control
   * character or not ASCII.
   *
   * <p>Only the lowest bit that is set is reliable, because the subtraction may borrow from the
   * byte above a match.
   */
  private static long special(long bytes) {
    long control = bytes - ' ' * EACH;
    long quote = (bytes ^ '"' * EACH) - EACH;
    long backslash = (bytes ^ '\\' * EACH) - EACH;
    return (bytes | control | quote | backslash) & HIGHEST_BITS;
  }

  private static int special(byte b) {
    return b < ' ' || b == '"' || b == '\\' ? 1 : 0;
  }

  private int skipEscape(int at) throws InvalidJson {
    byte escaped = at + 1 < end ? json[at + 1] : 0;
    if (escaped > 0 && ESCAPED[escaped]) {
      return at + 2;
    }
    if (escaped != 'u') {
      throw invalidEscape(at);
    }
    return skipHex(at + 2);
  }

  private int skipHex(int at) throws InvalidJson {
    if (at + 4 > end) {
      throw invalidEscape(at);
    }
    for (int i = at; i < at + 4; i++) {
      if (json[i] < 0 || Character.digit(json[i], 16) < 0) {
        throw invalidEscape(i);
      }
    }
    return at + 4;
  }

  private static InvalidJson invalidEscape(int at) {
    return new InvalidJson("invalid escape at offset " + at);
  }

  private int skipNonAscii(int start) throws InvalidJson {
    int at = start;
    while (at < end && json[at] < 0) {
      int length = utf8Length(at);
      if (length == 0) {
        throw new InvalidJson("not UTF-8 at offset " + at);
      }
      at += length;
    }
    return at;
  }

  /**
   * Returns the length of the well-formed UTF-8 sequence that starts here, or 0; the second byte's
   * range depends on the first.
   */
  private int utf8Length(int at) {
    int first = json[at] & 0xff;
    if (first < 0xe0) {
      return first >= 0xc2 && isWithin(at + 1, 0x80, 0xbf) ? 2 : 0;
    }
    if (first < 0xf0) {
      int lowest = first == 0xe0 ? 0xa0 : 0x80; // no overlong form
      int highest = first == 0xed ? 0x9f : 0xbf; // no surrogates
      return isWithin(at + 1, lowest, highest) && isWithin(at + 2, 0x80, 0xbf) ? 3 : 0;
    }
    int lowest = first == 0xf0 ? 0x90 : 0x80;
    int highest = first == 0xf4 ? 0x8f : 0xbf; // nothing above U+10FFFF
    boolean valid =
        first <= 0xf4
            && isWithin(at + 1, lowest, highest)
            && isWithin(at + 2, 0x80, 0xbf)
            && isWithin(at + 3, 0x80, 0xbf);
    return valid ? 4 : 0;
  }

  private boolean isWithin(int at, int lowest, int highest) {
    return at < end && (json[at] & 0xff) >= lowest && (json[at] & 0xff) <= highest;
  }

  private int skipWord(int at, String word) throws InvalidJson {
    for (int i = 1; i < word.length(); i++) {
      if (peek(at + i) != word.charAt(i)) {
        throw unexpected(at + i);
      }
    }
    return at + word.length();
  }

  private int skipNumber(int start) throws InvalidJson {
    int at = peek(start) == '-' ? start + 1 : start;
    at = peek(at) == '0' ? at + 1 : skipDigits(at);
    if (peek(at) == '.') {
      at = skipDigits(at + 1);
    }
    if (peek(at) == 'e' || peek(at) == 'E') {
      byte sign = peek(at + 1);
      at = skipDigits(sign == '+' || sign == '-' ? at + 2 : at + 1);
    }
    return at;
  }

  private int skipDigits(int start) throws InvalidJson {
    int at = start;
    while (at < end && json[at] >= '0' && json[at] <= '9') {
      at++;
    }
    if (at == start) {
      throw unexpected(at);
    }
    return at;
  }

  InvalidJson unexpected(int at) {
    return new InvalidJson(
        at < end ? "unexpected byte at offset " + at : "unexpected end at offset " + at);
  }
}
