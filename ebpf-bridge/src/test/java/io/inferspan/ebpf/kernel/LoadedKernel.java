package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.linux.SystemView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;

/** A kernel side without the rest of a bridge; observes only system calls of this process. */
final class LoadedKernel implements AutoCloseable {

  private static final int RING_BYTES = 1 << 20;

  final KernelSide side;
  final Identity identity;
  final KernelSettings settings;
  private final OwnMemory memory;

  private LoadedKernel() {
    side =
        KernelSide.load(
            new KernelPlan(
                Set.of(KernelSide.CONTEXT),
                RING_BYTES,
                KernelFeatures.probe(),
                SystemView.live().kernel(),
                KernelPlan.Sharing.none()));
    identity = side.identity();
    memory = side.ownMemory();
    settings = side.settings();
    settings.begin(
        new KernelSettings.Options(
            KernelSettings.SYSCALLS, false, identity.tgid(), 0, KernelSettings.Cgroup.any()));
  }

  static LoadedKernel start() {
    TestObjects.assumeBpf();
    return new LoadedKernel();
  }

  /** Attributes the calling thread's work to a trace from now on. */
  void publish() {
    ByteBuffer record = memory.contexts();
    record.putLong(8, 0x1111111111111111L);
    record.putLong(16, 0x1111111111111111L);
    record.putLong(24, 0x2222222222222222L);
    record.putLong(0, Long.reverseBytes(1L));
    memory.put(identity.currentTid(), 1);
  }

  /** Returns whether the kernel knows the thread, by opening the map by its id. */
  static boolean knows(int tid) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom(JAVA_INT, tid);
      MemorySegment slot = arena.allocate(JAVA_INT);
      for (int number : maps()) {
        try (LoadedMap open = LoadedMap.open(number)) {
          if (open != null && open.map().name().equals("own_threads")) {
            return open.map().get(key, slot);
          }
        }
      }
    }
    throw new AssertionError("no map own_threads is loaded");
  }

  private static List<Integer> maps() {
    try {
      return List.copyOf(KernelObjects.of(ProcessHandle.current().pid()).maps());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    side.close();
  }
}
