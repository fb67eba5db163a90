import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The CPU time of a process's threads in nanoseconds. The ticks of {@code /proc/<pid>/stat} are too coarse for a turn of a quarter of a second. A thread that ends between two readings does not count in their difference. */
record CpuTime(Map<Path, Long> nanosOfThreads, Map<Path, Long> nanosOfCompilers) {

  /** Compiler threads are counted separately: a gateway that runs for weeks compiles only once. */
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
      throw new IllegalStateException("cannot read the CPU time of process " + process.pid());
    }
    return now;
  }

  private void read(Path thread) {
    try {
      boolean compiles = COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt();
      List<String> fields = List.of(Files.readString(thread.resolve("schedstat")).split(" "));
      (compiles ? nanosOfCompilers : nanosOfThreads).put(thread, Long.parseLong(fields.get(0)));
    } catch (IOException ended) {
      // The thread ended: its file does not exist, or reading it fails with ESRCH.
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
