package io.inferspan.samples.desk.otlp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes the fields of one message of Protocol Buffers. */
public final class ProtoWriter {

  private byte[] bytes = new byte[256];
  private int length;

  /** An empty message. */
  public ProtoWriter() {}

  /** Adds a number. */
  public ProtoWriter number(int field, long value) {
    varint((long) field << 3 | ProtoReader.VARINT);
    varint(value);
    return this;
  }

  /** Adds eight bytes, the lowest first. */
  public ProtoWriter fixed64(int field, long value) {
    varint((long) field << 3 | ProtoReader.FIXED64);
    room(Long.BYTES);
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[length++] = (byte) (value >>> (8 * i));
    }
    return this;
  }

  /** Adds text. */
  public ProtoWriter text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /** Adds an inner message. */
  public ProtoWriter message(int field, ProtoWriter inner) {
    return bytes(field, inner.bytes, 0, inner.length);
  }

  /** Adds bytes. */
  public ProtoWriter bytes(int field, byte[] value) {
    return bytes(field, value, 0, value.length);
  }

  private ProtoWriter bytes(int field, byte[] from, int offset, int count) {
    varint((long) field << 3 | ProtoReader.LENGTH);
    varint(count);
    return raw(from, offset, offset + count);
  }

  /** Adds a field as it stands elsewhere, with its tag. */
  ProtoWriter raw(byte[] from, int begin, int end) {
    room(end - begin);
    System.arraycopy(from, begin, bytes, length, end - begin);
    length += end - begin;
    return this;
  }

  /** How long the message is by now. */
  int length() {
    return length;
  }

  /** The message. */
  public byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  private void varint(long value) {
    room(10);
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
  }

  private void room(int count) {
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + count));
    }
  }
}
