package io.inferspan.ebpf.context;

import io.inferspan.ebpf.wire.Owner;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A fake of the kernel's map of our threads, which looks up a thread as a BPF program does. */
final class FakeThreadMap implements OwnThreads.KernelThreads {

  final Map<Integer, Integer> slots = new ConcurrentHashMap<>();
  final AtomicInteger puts = new AtomicInteger();
  final Arena arena = Arena.ofShared();
  final ByteBuffer memory;
  volatile boolean full;
  volatile boolean broken;

  FakeThreadMap(int slotCount) {
    this.memory = arena.allocate((long) slotCount * ThreadRecord.BYTES, 64).asByteBuffer();
  }

  @Override
  public void put(int tid, int slotPlusOne) {
    if (full) {
      throw new IllegalStateException("the map is full");
    }
    puts.incrementAndGet();
    slots.put(tid, slotPlusOne);
  }

  @Override
  public void remove(int tid) {
    if (broken) {
      throw new IllegalStateException("the map is broken");
    }
    slots.remove(tid);
  }

  /** Returns the thread's context in traceparent form, or null. */
  @Nullable String contextOf(int tid) {
    Integer slot = slots.get(tid);
    if (slot == null) {
      return null;
    }
    int at = (slot - 1) * ThreadRecord.BYTES;
    ByteBuffer read = memory.duplicate().order(ByteOrder.nativeOrder());
    long owner = read.getLong(at);
    if (owner == 0) {
      return null;
    }
    read.order(ByteOrder.BIG_ENDIAN);
    if (owner != Owner.ofSpan(read.getLong(at + 8), read.getLong(at + 16), read.getLong(at + 24))) {
      return "another's";
    }
    return "%016x%016x-%016x"
        .formatted(read.getLong(at + 8), read.getLong(at + 16), read.getLong(at + 24));
  }
}
