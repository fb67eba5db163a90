package io.inferspan.gateway.extproc.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes one message of Protocol Buffers, behind room for what a frame puts before it.
 *
 * <p>Values that are the default of their type are written too: a field of a {@code oneof} is there
 * only when it is written.
 */
final class ProtoWriter {

  private static final int VARINT = 0;
  private static final int LENGTH = 2;
  private static final int INITIAL_BYTES = 512;

  private byte[] bytes;
  private int size;

  /** A writer that leaves {@code room} bytes free at the start. */
  ProtoWriter(int room, int expectedBytes) {
    this.bytes = new byte[room + Math.max(INITIAL_BYTES, expectedBytes)];
    this.size = room;
  }

  /** What was written; the array is the writer's own. */
  ByteBuffer written() {
    return ByteBuffer.wrap(bytes, 0, size);
  }

  ProtoWriter flag(int field, boolean value) {
    return number(field, value ? 1 : 0);
  }

  ProtoWriter number(int field, long value) {
    varint((long) field << 3 | VARINT);
    varint(value);
    return this;
  }

  ProtoWriter text(int field, String value) {
    return bytes(field, ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
  }

  ProtoWriter bytes(int field, ByteBuffer value) {
    return bytes(field, List.of(value));
  }

  /** The bytes of all pieces as one value. */
  ProtoWriter bytes(int field, List<ByteBuffer> pieces) {
    int length = pieces.stream().mapToInt(ByteBuffer::remaining).sum();
    varint((long) field << 3 | LENGTH);
    varint(length);
    makeRoom(length);
    for (ByteBuffer piece : pieces) {
      piece.get(piece.position(), bytes, size, piece.remaining());
      size += piece.remaining();
    }
    return this;
  }

  /** An inner message, which {@code content} writes. */
  ProtoWriter message(int field, Consumer<ProtoWriter> content) {
    varint((long) field << 3 | LENGTH);
    int start = size;
    content.accept(this);
    int length = size - start;
    // The length stands before what it measures, so what was written makes way for it.
    int prefix = varintBytes(length);
    makeRoom(prefix);
    System.arraycopy(bytes, start, bytes, start + prefix, length);
    size = start;
    varint(length);
    size += length;
    return this;
  }

  private static int varintBytes(long value) {
    int count = 1;
    for (long rest = value >>> 7; rest != 0; rest >>>= 7) {
      count++;
    }
    return count;
  }

  private void varint(long value) {
    makeRoom(10);
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  private void makeRoom(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
