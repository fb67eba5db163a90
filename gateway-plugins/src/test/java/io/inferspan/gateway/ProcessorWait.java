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
 * How long each thread of this process was ready to run and had no processor so far, as Linux
 * tells.
 *
 * <p>That is the machine's share in every lateness, and none of the code's that is under test.
 */
record ProcessorWait(Map<Path, Long> nanosOfThreads) {

  /** Threads of the JVM, by which nobody is made late who had a processor. */
  private static final Set<String> JVM = Set.of("C1", "C2", "GC", "G1", "VM", "java");

  /** As it is now; of nothing where Linux does not tell. */
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

  /** What was waited since then, by threads that are still there. */
  long nanosSince(ProcessorWait before) {
    return nanosOfThreads.entrySet().stream()
        .mapToLong(each -> each.getValue() - before.nanosOfThreads.getOrDefault(each.getKey(), 0L))
        .sum();
  }
}
