package io.inferspan.pd.json;

import java.util.BitSet;

/**
 * Validates JSON text (RFC 8259, UTF-8) without building values.
 *
 * <p>Every {@code skip} takes the position of a first byte and returns the position after the last
 * one. Hand-written because a scan without tokens can skip strings, the bulk of a prompt, eight
 * bytes at a time.
 */
final class JsonScanner {
  private final byte[] json;
  private final int end;
  private final int maxDepth;
  private final StringScanner strings;

  /**
   * For each depth, whether the open container is an object. It is on the heap, so that no body can
   * overflow the stack.
   */
  private final BitSet objects = new BitSet();

  JsonScanner(byte[] json, int end, int maxDepth) {
    this.json = json;
    this.end = end;
    this.maxDepth = maxDepth;
    this.strings = new StringScanner(json, end);
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

  /** Skips one expected byte and the space behind it. */
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
    return strings.skip(at + 1);
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

  /** Skips a key and its colon in an object; an array has none. */
  private int skipKey(int at, int depth) throws InvalidJson {
    return objects.get(depth - 1) ? skipMark(skipSpace(skipString(at)), ':') : at;
  }

  private int skipScalar(int at) throws InvalidJson {
    return switch (peek(at)) {
      case '"' -> strings.skip(at + 1);
      case 't' -> skipWord(at, "true");
      case 'f' -> skipWord(at, "false");
      case 'n' -> skipWord(at, "null");
      default -> skipNumber(at);
    };
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
        at < end ? "unexpected byte at offset " + at : "ends unfinished at offset " + at);
  }
}
