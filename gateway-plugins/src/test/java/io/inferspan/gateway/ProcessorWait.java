package io.inferspan.gateway;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The time that each thread of this process was runnable without a processor, as counted by Linux.
 *
 * <p>It is the machine's share of a delay, as opposed to that of the code under test.
 */
record ProcessorWait(Map<Path, Long> nanosOfThreads) {

  /** Threads of the JVM, whose waits delay no other thread. */
  private static final Set<String> JVM = Set.of("C1", "C2", "GC", "G1", "VM", "java");

  /** Returns the current counts; empty if Linux does not count. */
  static ProcessorWait now() {
    Map<Path, Long> nanos = new HashMap<>();
    try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
      List<Path> all = threads.toList();
      all.forEach(thread -> read(thread, nanos));
    } catch (IOException elsewhere) {
      // Another system: then all lateness counts.
    }
    return new ProcessorWait(nanos);
  }

  private static void read(Path thread, Map<Path, Long> nanos) {
    try {
      String firstWord = Files.readString(thread.resolve("comm")).strip().split(" ", 2)[0];
      String[] ranAndWaited = Files.readString(thread.resolve("schedstat")).split(" ", 3);
      if (!JVM.contains(firstWord)) {
        nanos.put(thread, Long.parseLong(ranAndWaited[1]));
      }
    } catch (IOException ended) {
      // Between the list and here.
    }
  }

  /** Returns the time waited since then, by threads that still exist. */
  long nanosSince(ProcessorWait before) {
    return nanosOfThreads.entrySet().stream()
        .mapToLong(each -> each.getValue() - before.nanosOfThreads.getOrDefault(each.getKey(), 0L))
        .sum();
  }
}
