package io.inferspan.samples.desk.otlp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Reads the fields of one message of Protocol Buffers, in the order in which they come.
 *
 * <p>It copies nothing, and never reads beyond its message, whatever a length in it claims.
 */
final class ProtoReader {

  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int LENGTH = 2;
  static final int FIXED32 = 5;

  private static final int MAX_VARINT_BYTES = 10;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] bytes;
  private final int end;
  private int at;
  private int fieldAt;
  private int field;
  private int wireType;

  ProtoReader(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  /** A message that is part of the bytes. */
  ProtoReader(byte[] bytes, int from, int end) {
    this.bytes = bytes;
    this.at = from;
    this.end = end;
  }

  /** Goes to the next field; false where the message ends. */
  boolean next() throws MalformedException {
    if (at == end) {
      return false;
    }
    fieldAt = at;
    long tag = varint();
    field = (int) (tag >>> 3);
    wireType = (int) (tag & 7);
    if (tag < 0 || tag > 0xffff_ffffL || field == 0) {
      throw new MalformedException("a field has no valid number");
    }
    return true;
  }

  int field() {
    return field;
  }

  byte[] bytes() {
    return bytes;
  }

  /** Where the field that the reader is at begins, with its tag. */
  int fieldAt() {
    return fieldAt;
  }

  /** Where the reader is. */
  int position() {
    return at;
  }

  /** Where the message ends. */
  int end() {
    return end;
  }

  /** What is left of the message. */
  int remaining() {
    return end - at;
  }

  long number() throws MalformedException {
    expect(VARINT);
    return varint();
  }

  long fixed64() throws MalformedException {
    expect(FIXED64);
    int from = take(Long.BYTES);
    return (long) LONGS.get(bytes, from);
  }

  /** The inner message, text or bytes of a field. */
  ProtoReader message() throws MalformedException {
    expect(LENGTH);
    int length = length();
    int from = at;
    at += length;
    return new ProtoReader(bytes, from, from + length);
  }

  /** Passes over a field. */
  void skip() throws MalformedException {
    switch (wireType) {
      case VARINT -> varint();
      case FIXED64 -> take(Long.BYTES);
      case LENGTH -> {
        int length = length();
        at += length;
      }
      case FIXED32 -> take(Integer.BYTES);
      default -> throw new MalformedException("a field has the unknown type " + wireType);
    }
  }

  /** An id in the order of its digits. */
  long bigEndian(int offset) {
    return Long.reverseBytes((long) LONGS.get(bytes, at + offset));
  }

  private void expect(int type) throws MalformedException {
    if (wireType != type) {
      throw new MalformedException("field " + field + " is of type " + wireType + ", not " + type);
    }
  }

  private int length() throws MalformedException {
    long length = varint();
    if (length < 0 || length > end - at) {
      throw new MalformedException("field " + field + " is longer than its message");
    }
    return (int) length;
  }

  private int take(int count) throws MalformedException {
    if (count > end - at) {
      throw new MalformedException("field " + field + " is cut off");
    }
    int from = at;
    at += count;
    return from;
  }

  private long varint() throws MalformedException {
    long value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      if (at == end) {
        throw new MalformedException("a number is cut off");
      }
      byte next = bytes[at++];
      value |= (long) (next & 0x7f) << (7 * i);
      if (next >= 0) {
        return value;
      }
    }
    throw new MalformedException("a number is longer than ten bytes");
  }
}
