package io.inferspan.kvcache.events;

/**
 * Reads msgpack from bytes that are not trusted.
 *
 * <p>It never reads past the end, allocates nothing for a length that is only declared, and has no
 * recursion, so that depth costs nothing. Whatever is wrong ends in {@link MalformedException}.
 */
final class MsgpackReader {

  /** What the next value is. */
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

  private static final long UINT32_MAX = 0xffff_ffffL;

  private byte[] in = {};
  private int at;

  /** Starts over, on other bytes. */
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

  /** The bytes themselves; texts and byte strings lie in them at {@link #position()}. */
  byte[] bytes() {
    return in;
  }

  Kind next() throws MalformedException {
    need(1);
    int tag = in[at] & 0xff;
    if (tag <= 0x7f || tag >= 0xe0) {
      return Kind.INTEGER;
    }
    if (tag <= 0x8f) {
      return Kind.MAP;
    }
    if (tag <= 0x9f) {
      return Kind.ARRAY;
    }
    return tag <= 0xbf ? Kind.TEXT : tagged(tag);
  }

  private static Kind tagged(int tag) {
    return switch (tag) {
      case 0xc0 -> Kind.NIL;
      case 0xc2, 0xc3 -> Kind.BOOLEAN;
      case 0xc4, 0xc5, 0xc6 -> Kind.BYTES;
      case 0xca, 0xcb -> Kind.FLOAT;
      case 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3 -> Kind.INTEGER;
      case 0xd9, 0xda, 0xdb -> Kind.TEXT;
      case 0xdc, 0xdd -> Kind.ARRAY;
      case 0xde, 0xdf -> Kind.MAP;
      default -> Kind.OTHER;
    };
  }

  /** Takes a nil, if the next value is one. */
  boolean nil() throws MalformedException {
    need(1);
    boolean nil = in[at] == (byte) 0xc0;
    at += nil ? 1 : 0;
    return nil;
  }

  /** Starts an array; how many values follow, which is never more than bytes are left. */
  int array() throws MalformedException {
    int tag = tag();
    long count =
        switch (tag) {
          case 0xdc -> big(2);
          case 0xdd -> big(4);
          default -> fixed(tag, 0x90, 0x0f);
        };
    return held(count, 1);
  }

  /** Starts a map; how many pairs follow. */
  int map() throws MalformedException {
    int tag = tag();
    long count =
        switch (tag) {
          case 0xde -> big(2);
          case 0xdf -> big(4);
          default -> fixed(tag, 0x80, 0x0f);
        };
    return held(count, 2);
  }

  /** Starts a text; how many bytes of it follow, to be stepped over by the caller. */
  int text() throws MalformedException {
    int tag = tag();
    long count =
        switch (tag) {
          case 0xd9 -> big(1);
          case 0xda -> big(2);
          case 0xdb -> big(4);
          default -> fixed(tag, 0xa0, 0x1f);
        };
    return held(count, 1);
  }

  /** Starts a byte string; how many bytes of it follow, to be stepped over by the caller. */
  int binary() throws MalformedException {
    long count =
        switch (tag()) {
          case 0xc4 -> big(1);
          case 0xc5 -> big(2);
          case 0xc6 -> big(4);
          default -> throw MalformedException.INSTANCE;
        };
    return held(count, 1);
  }

  /** An integer's 64 bits, whether it has a sign or not. */
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

  /** An integer from 0 to 2^32 - 1, as its 32 bits. */
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

  /** A number of any kind. */
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

  /** Steps over a value, however deep. */
  void skip() throws MalformedException {
    long left = 1;
    while (left > 0) {
      left += inside() - 1;
      if (left > in.length - at) {
        throw MalformedException.INSTANCE;
      }
    }
  }

  /** Steps over a value, or into it; how many values are in it. */
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
    int tag = tag();
    long size =
        switch (tag) {
          case 0xc7 -> big(1);
          case 0xc8 -> big(2);
          case 0xc9 -> big(4);
          case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8 -> 1L << (tag - 0xd4);
          default -> throw MalformedException.INSTANCE;
        };
    step(held(size + 1, 1));
  }

  /** Steps over so many bytes. */
  void step(int bytes) throws MalformedException {
    need(bytes);
    at += bytes;
  }

  private static long fixed(int tag, int kind, int mask) throws MalformedException {
    if ((tag & ~mask) != kind) {
      throw MalformedException.INSTANCE;
    }
    return tag & mask;
  }

  /** A declared count that the bytes left can hold. */
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
