import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the threads of a process have computed so far, to the nanosecond: the ticks of {@code
 * /proc/<pid>/stat} are too coarse for a turn of a quarter of a second. A thread that ends between
 * two readings is left out of their difference, for it would take all that it ever computed along.
 */
record CpuTime(Map<Path, Long> nanosOfThreads) {

  /** What a JVM compiles it compiles once; a gateway runs for weeks. */
  private static final Pattern COMPILER = Pattern.compile("C[12] CompilerThre");

  static CpuTime of(Process process) {
    Map<Path, Long> nanos = new HashMap<>();
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        read(thread, nanos);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new CpuTime(nanos);
  }

  private static void read(Path thread, Map<Path, Long> nanos) throws IOException {
    try {
      if (COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt()) {
        return;
      }
      List<String> fields = List.of(Files.readString(thread.resolve("schedstat")).split(" "));
      nanos.put(thread, Long.parseLong(fields.get(0)));
    } catch (NoSuchFileException ended) {
      // Between the list and here.
    }
  }

  long since(CpuTime before) {
    return nanosOfThreads.entrySet().stream()
        .mapToLong(each -> each.getValue() - before.nanosOfThreads.getOrDefault(each.getKey(), 0L))
        .sum();
  }
}
