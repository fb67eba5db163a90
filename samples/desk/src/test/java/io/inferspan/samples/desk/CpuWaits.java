package io.inferspan.samples.desk;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The time that runnable threads of some processes waited for a CPU, by the kernel's counters; the
 * time stolen by other virtual machines; and this JVM's own pauses.
 */
final class CpuWaits {

  private static final Path PROC = Path.of("/proc");
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double MILLIS_PER_TICK = 10;

  private final List<Long> processes;
  private final Map<Path, Boolean> compilers = new HashMap<>();

  private Map<Path, Long> threads = Map.of();
  private long stolenTicks;
  private long pausedMillis;

  CpuWaits(List<Long> processes) {
    this.processes = processes;
  }

  /** Starts to count. */
  void begin() throws IOException {
    threads = threads();
    stolenTicks = stolen();
    pausedMillis = paused();
  }

  /**
   * Returns the time that all threads have waited for a CPU since the beginning, in milliseconds.
   */
  double millis() throws IOException {
    double waited = 0;
    for (Map.Entry<Path, Long> each : threads().entrySet()) {
      waited += (each.getValue() - threads.getOrDefault(each.getKey(), 0L)) / NANOS_PER_MILLI;
    }
    long stolen = stolen() - stolenTicks;
    return waited + stolen * MILLIS_PER_TICK + (paused() - pausedMillis);
  }

  private Map<Path, Long> threads() throws IOException {
    Map<Path, Long> waited = new HashMap<>();
    for (long process : processes) {
      try (Stream<Path> tasks = Files.list(PROC.resolve(process + "/task"))) {
        for (Path task : tasks.toList()) {
          if (!compilers.computeIfAbsent(task, CpuWaits::isCompiler)) {
            waited.put(task, waited(task));
          }
        }
      }
    }
    return waited;
  }

  /** Returns whether the thread is a JIT compiler's, on which no request depends. */
  private static boolean isCompiler(Path task) {
    String name = read(task.resolve("comm"));
    return name.startsWith("C1 Comp") || name.startsWith("C2 Comp");
  }

  /** Returns the nanoseconds that a thread waited on a run queue: the second number. */
  private static long waited(Path task) {
    String[] numbers = read(task.resolve("schedstat")).strip().split(" ", -1);
    return numbers.length < 2 ? 0 : Long.parseLong(numbers[1]);
  }

  private static long stolen() {
    String all = read(PROC.resolve("stat")).lines().findFirst().orElse("");
    String[] numbers = all.strip().split(" +", -1);
    return numbers.length < 9 ? 0 : Long.parseLong(numbers[8]);
  }

  private static long paused() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  /** Returns an empty text if the thread has ended. */
  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
