package io.inferspan.kvcache.events;

/**
 * Reads untrusted msgpack.
 *
 * <p>It never reads past the end, allocates nothing for a declared length, and does not recurse, so
 * deep nesting cannot overflow the stack. Any error throws {@link MalformedException}.
 */
final class MsgpackReader {

  /** The type of the next value. */
  enum Kind {
    NIL,
    BOOLEAN,
    INTEGER,
    FLOAT,
    TEXT,
    BYTES,
    ARRAY,
    MAP,
    OTHER
  }

  private static final int NO_TAG = -1;
  private static final long UINT32_MAX = 0xffff_ffffL;

  private byte[] in = {};
  private int at;

  /** Resets the reader to other bytes. */
  void reset(byte[] bytes) {
    in = bytes;
    at = 0;
  }

  int position() {
    return at;
  }

  void position(int position) {
    at = position;
  }

  boolean atEnd() {
    return at == in.length;
  }

  /** Returns the bytes; texts and byte strings start at {@link #position()}. */
  byte[] bytes() {
    return in;
  }

  Kind next() throws MalformedException {
    need(1);
    int tag = in[at] & 0xff;
    if (tag <= 0x7f || tag >= 0xe0 || (tag >= 0xcc && tag <= 0xd3)) {
      return Kind.INTEGER;
    }
    if (tag <= 0xbf) {
      return tag <= 0x8f ? Kind.MAP : tag <= 0x9f ? Kind.ARRAY : Kind.TEXT;
    }
    return switch (tag) {
      case 0xc0 -> Kind.NIL;
      case 0xc2, 0xc3 -> Kind.BOOLEAN;
      case 0xc4, 0xc5, 0xc6 -> Kind.BYTES;
      case 0xca, 0xcb -> Kind.FLOAT;
      case 0xd9, 0xda, 0xdb -> Kind.TEXT;
      case 0xdc, 0xdd -> Kind.ARRAY;
      case 0xde, 0xdf -> Kind.MAP;
      default -> Kind.OTHER;
    };
  }

  /** Reads a nil if the next value is one. */
  boolean nil() throws MalformedException {
    need(1);
    boolean nil = in[at] == (byte) 0xc0;
    at += nil ? 1 : 0;
    return nil;
  }

  /** Starts an array; returns the number of its values, never more than the bytes left. */
  int array() throws MalformedException {
    return held(size(0x90, 0x0f, 0xdc, 2), 1);
  }

  /** Starts a map; returns the number of its pairs. */
  int map() throws MalformedException {
    return held(size(0x80, 0x0f, 0xde, 2), 2);
  }

  /** Starts a text; returns its length in bytes, which the caller must skip. */
  int text() throws MalformedException {
    return held(size(0xa0, 0x1f, 0xd9, 1), 1);
  }

  /** Starts a byte string; returns its length in bytes, which the caller must skip. */
  int binary() throws MalformedException {
    return held(size(NO_TAG, 0, 0xc4, 1), 1);
  }

  /**
   * Reads a tag and the size in it or after it.
   *
   * @param small the tag that contains a size in the bits of {@code mask}
   * @param first the tag that is followed by a size of {@code bytes} bytes; each following tag
   *     doubles the length of the size, up to 4 bytes
   */
  private long size(int small, int mask, int first, int bytes) throws MalformedException {
    int tag = tag();
    if ((tag & ~mask) == small) {
      return tag & mask;
    }
    int wide = tag < first || tag > first + 2 ? Long.BYTES : bytes << (tag - first);
    if (wide > Integer.BYTES) {
      throw MalformedException.INSTANCE;
    }
    return big(wide);
  }

  /** Reads an integer's 64 bits, signed or unsigned. */
  long bits() throws MalformedException {
    int tag = tag();
    if (tag <= 0x7f || tag >= 0xe0) {
      return (byte) tag;
    }
    return switch (tag) {
      case 0xcc -> big(1);
      case 0xcd -> big(2);
      case 0xce -> big(4);
      case 0xcf, 0xd3 -> big(8);
      case 0xd0 -> (byte) big(1);
      case 0xd1 -> (short) big(2);
      case 0xd2 -> (int) big(4);
      default -> throw MalformedException.INSTANCE;
    };
  }

  /** Reads an integer from 0 to 2^32 - 1 as its 32 bits. */
  int uint32() throws MalformedException {
    if (at < in.length && in[at] >= 0) {
      return in[at++];
    }
    long value = bits();
    if (value < 0 || value > UINT32_MAX) {
      throw MalformedException.INSTANCE;
    }
    return (int) value;
  }

  /** Reads a number of any kind. */
  double number() throws MalformedException {
    need(1);
    int tag = in[at] & 0xff;
    if (tag == 0xcb) {
      at++;
      return Double.longBitsToDouble(big(8));
    }
    if (tag == 0xca) {
      at++;
      return Float.intBitsToFloat((int) big(4));
    }
    return bits();
  }

  /** Skips a value at any nesting depth. */
  void skip() throws MalformedException {
    long left = 1;
    while (left > 0) {
      left += inside() - 1;
      if (left > in.length - at) {
        throw MalformedException.INSTANCE;
      }
    }
  }

  /** Skips a value, or enters it; returns how many values it contains. */
  private long inside() throws MalformedException {
    switch (next()) {
      case NIL, BOOLEAN -> at++;
      case INTEGER -> bits();
      case FLOAT -> number();
      case TEXT -> step(text());
      case BYTES -> step(binary());
      case ARRAY -> {
        return array();
      }
      case MAP -> {
        return 2L * map();
      }
      case OTHER -> extension();
    }
    return 0;
  }

  private void extension() throws MalformedException {
    int fixed = (in[at] & 0xff) - 0xd4;
    boolean isFixed = fixed >= 0 && fixed <= 4;
    at += isFixed ? 1 : 0;
    long size = isFixed ? 1L << fixed : size(NO_TAG, 0, 0xc7, 1);
    step(held(size + 1, 1));
  }

  /** Skips a number of bytes. */
  void step(int bytes) throws MalformedException {
    need(bytes);
    at += bytes;
  }

  /** Returns a declared count that fits into the bytes left. */
  private int held(long count, int bytesEach) throws MalformedException {
    if (count * bytesEach > in.length - at) {
      throw MalformedException.INSTANCE;
    }
    return (int) count;
  }

  private int tag() throws MalformedException {
    need(1);
    return in[at++] & 0xff;
  }

  private long big(int bytes) throws MalformedException {
    need(bytes);
    long value = 0;
    for (int i = 0; i < bytes; i++) {
      value = (value << 8) | (in[at++] & 0xff);
    }
    return value;
  }

  private void need(int bytes) throws MalformedException {
    if (in.length - at < bytes) {
      throw MalformedException.INSTANCE;
    }
  }
}
