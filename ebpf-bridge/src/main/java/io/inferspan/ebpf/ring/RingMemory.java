package io.inferspan.ebpf.ring;

import io.inferspan.ebpf.linux.Mapping;
import java.lang.foreign.MemorySegment;

/**
 * The pages of a ring buffer: the consumer's position, the producer's, and the data mapped twice.
 */
public final class RingMemory implements AutoCloseable {

  private static final long MAX_DATA_BYTES = 1L << 29;

  private final MemorySegment consumer;
  private final MemorySegment producer;
  private final MemorySegment data;
  private final long dataBytes;
  private final Runnable unmap;

  private RingMemory(
      MemorySegment consumer, MemorySegment producerAndData, Shape shape, Runnable unmap) {
    this.consumer = consumer;
    this.producer = producerAndData;
    this.data = producerAndData.asSlice(shape.pageBytes(), 2 * shape.dataBytes());
    this.dataBytes = shape.dataBytes();
    this.unmap = unmap;
  }

  /**
   * Maps a ring buffer.
   *
   * @param fd the map's file descriptor, which may be closed afterwards
   * @param dataBytes the map's {@code max_entries}
   */
  public static RingMemory map(int fd, long dataBytes) {
    Shape shape = new Shape(PageSize.bytes(), dataBytes);
    Mapping consumer = Mapping.shared(fd, 0, shape.pageBytes(), true);
    Mapping rest;
    try {
      rest =
          Mapping.shared(fd, shape.pageBytes(), shape.pageBytes() + 2 * shape.dataBytes(), false);
    } catch (RuntimeException e) {
      consumer.close();
      throw e;
    }
    return new RingMemory(
        consumer.memory(),
        rest.memory(),
        shape,
        () -> {
          rest.close();
          consumer.close();
        });
  }

  /** Creates a ring over memory in the same layout, for tests. */
  static RingMemory over(
      MemorySegment consumer, MemorySegment producerAndData, long pageBytes, long dataBytes) {
    return new RingMemory(consumer, producerAndData, new Shape(pageBytes, dataBytes), () -> {});
  }

  MemorySegment consumer() {
    return consumer;
  }

  MemorySegment producer() {
    return producer;
  }

  /** Returns the data, mapped twice in a row so that a record that wraps is contiguous. */
  MemorySegment data() {
    return data;
  }

  long dataBytes() {
    return dataBytes;
  }

  @Override
  public void close() {
    unmap.run();
  }

  private record Shape(long pageBytes, long dataBytes) {
    Shape {
      if (Long.bitCount(dataBytes) != 1 || dataBytes < pageBytes || dataBytes > MAX_DATA_BYTES) {
        throw new IllegalArgumentException(
            "the ring has %d bytes, but its size must be a power of two from %d to %d"
                .formatted(dataBytes, pageBytes, MAX_DATA_BYTES));
      }
    }
  }
}
