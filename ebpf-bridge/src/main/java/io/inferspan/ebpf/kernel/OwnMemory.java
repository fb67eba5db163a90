package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.context.OwnThreads;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.linux.Mapping;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/**
 * The kernel's map of this process's threads, and the shared memory in which each thread publishes
 * its context.
 */
public final class OwnMemory implements OwnThreads.KernelThreads, AutoCloseable {

  private final BpfMap threads;
  private final Mapping contexts;

  OwnMemory(BpfMap threads, BpfMap contexts) {
    this.threads = threads;
    long bytes = (long) contexts.maxEntries() * contexts.valueSize();
    this.contexts = Mapping.shared(contexts.fd(), 0, bytes, true);
  }

  /** Returns the memory, one record per slot. */
  public ByteBuffer contexts() {
    return contexts.memory().asByteBuffer();
  }

  @Override
  public void put(int tid, int slotPlusOne) {
    try (Arena arena = Arena.ofConfined()) {
      if (!threads.put(
          arena.allocateFrom(JAVA_INT, tid), arena.allocateFrom(JAVA_INT, slotPlusOne))) {
        throw new IllegalStateException("the kernel's map of threads is full");
      }
    }
  }

  @Override
  public void remove(int tid) {
    try (Arena arena = Arena.ofConfined()) {
      threads.delete(arena.allocateFrom(JAVA_INT, tid));
    }
  }

  @Override
  public void close() {
    contexts.close();
  }
}
