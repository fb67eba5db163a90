import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The CPU time of a process's threads, to the nanosecond: the ticks of {@code /proc/<pid>/stat} are too coarse for a turn of a quarter of a second. A thread that ends between two readings is omitted from their difference, since it would subtract all its CPU time. */
record CpuTime(Map<Path, Long> nanosOfThreads, Map<Path, Long> nanosOfCompilers) {

  /** Compilation happens once, while a gateway runs for weeks. */
  private static final Pattern COMPILER = Pattern.compile("C[12] CompilerThre");

  static CpuTime of(Process process) {
    CpuTime now = new CpuTime(new HashMap<>(), new HashMap<>());
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        now.read(thread);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (now.nanosOfThreads.isEmpty()) {
      throw new IllegalStateException("the CPU time of process " + process.pid() + " is not available");
    }
    return now;
  }

  private void read(Path thread) {
    try {
      boolean compiles = COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt();
      List<String> fields = List.of(Files.readString(thread.resolve("schedstat")).split(" "));
      (compiles ? nanosOfCompilers : nanosOfThreads).put(thread, Long.parseLong(fields.get(0)));
    } catch (IOException ended) {
      // Between the list and here, so that a file is not there; or, between the opening of one and
      // its reading, so that the kernel says ESRCH.
    }
  }

  /** Returns the CPU time since {@code before}, without the compilers. */
  long since(CpuTime before) {
    return difference(nanosOfThreads, before.nanosOfThreads);
  }

  /** Returns the CPU time of the compilers since {@code before}. */
  long compiledSince(CpuTime before) {
    return difference(nanosOfCompilers, before.nanosOfCompilers);
  }

  private static long difference(Map<Path, Long> after, Map<Path, Long> before) {
    return after.entrySet().stream()
        .mapToLong(each -> each.getValue() - before.getOrDefault(each.getKey(), 0L))
        .sum();
  }
}
