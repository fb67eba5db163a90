package io.inferspan.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads eight bytes of a buffer as a little-endian number, and searches all of them at once.
 *
 * <p>A search returns a mask whose lowest set bit is in the first matching byte. Higher bits may be
 * set without a match.
 */
public final class EightBytes {

  /** Reads heap and direct buffers in either byte order. */
  private static final VarHandle IN_BUFFER =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final VarHandle IN_ARRAY =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;
  private static final long QUOTES = ONES * '"';
  private static final long BACKSLASHES = ONES * '\\';
  private static final long OPENINGS = ONES * '{';
  private static final long CLOSINGS = ONES * '}';
  private static final long SPACES = ONES * ' ';
  private static final long AFTER_COMMA = ONES * (',' + 1);

  /** Seven bytes that never match, so that only the lowest byte is searched. */
  private static final long LETTERS = (ONES * 'a') << Byte.SIZE;

  private EightBytes() {}

  /** Returns the eight bytes at an index. */
  public static long at(ByteBuffer bytes, int index) {
    return (long) IN_BUFFER.get(bytes, index);
  }

  /** Returns the eight bytes at an index. */
  public static long at(byte[] bytes, int index) {
    return (long) IN_ARRAY.get(bytes, index);
  }

  /** Finds quotes, backslashes and control bytes. */
  static long endsOfText(long eight) {
    long quotes = eight ^ QUOTES;
    long backslashes = eight ^ BACKSLASHES;
    long found = (quotes - ONES) & ~quotes;
    found |= (backslashes - ONES) & ~backslashes;
    return (found | ((eight - SPACES) & ~eight)) & HIGHS;
  }

  /** Returns whether a byte is a quote, a backslash or a line break. */
  static boolean endsText(byte b) {
    return b == '"' || b == '\\' || isBreak(b);
  }

  /** Returns whether a byte is a space or a control byte. */
  static boolean isBlank(byte b) {
    return b >= 0 && b <= ' ';
  }

  /** Returns whether a byte ends a line. */
  public static boolean isBreak(byte b) {
    return b == '\n' || b == '\r';
  }

  /** Returns the index of the first quote, backslash or line break, or {@code end}. */
  public static int endOfText(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (end - at >= Long.BYTES) {
      long found = endsOfText(at(bytes, at));
      if (found == 0) {
        at += Long.BYTES;
      } else if (endsText(bytes.get(at += before(found)))) {
        return at;
      } else {
        at++;
      }
    }
    while (at < end && !endsText(bytes.get(at))) {
      at++;
    }
    return at;
  }

  /**
   * Returns the index of the first bracket, brace or byte from 0 to the comma, which includes
   * control bytes, spaces and quotes; {@code end} if there is none.
   */
  static int endOfPlain(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (end - at >= Long.BYTES) {
      long found = endsOfPlain(at(bytes, at));
      if (found != 0) {
        return at + before(found);
      }
      at += Long.BYTES;
    }
    while (at < end && !endsPlain(bytes.get(at))) {
      at++;
    }
    return at;
  }

  /** Finds brackets, braces, and all bytes from 0 to the comma: control bytes, spaces, quotes. */
  private static long endsOfPlain(long eight) {
    // '[' and '{' differ in one bit, as do ']' and '}'.
    long openings = (eight | SPACES) ^ OPENINGS;
    long closings = (eight | SPACES) ^ CLOSINGS;
    long found = (openings - ONES) & ~openings;
    found |= (closings - ONES) & ~closings;
    found |= (eight - AFTER_COMMA) & ~eight;
    return found & HIGHS;
  }

  private static boolean endsPlain(byte b) {
    return endsOfPlain((b & 0xffL) | LETTERS) != 0;
  }

  /** Returns the number of bytes before the first match. */
  static int before(long mask) {
    return Long.numberOfTrailingZeros(mask) >>> 3;
  }
}
