import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A running server, whose CPU time (with child processes) is read from {@code /proc}. */
record Server(String name, int port, Process process, Path log) implements AutoCloseable {
  private static final long NANOS_PER_TICK = 10_000_000; // USER_HZ is 100 on every Linux

  /** Waits until the server answers 200 on a path. */
  Server awaitAnswer(String path) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!answers(path)) {
      if (!process.isAlive() || System.nanoTime() > end) {
        throw new InvalidRunException(name + " did not start; its last output: " + lastOutput());
      }
      pause(2);
    }
    return this;
  }

  /** Returns whether a GET on a new connection is answered with 200. */
  boolean answers(String path) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(5_000);
      String request = "GET " + path + " HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      byte[] start = socket.getInputStream().readNBytes(12);
      return new String(start, StandardCharsets.US_ASCII).equals("HTTP/1.1 200");
    } catch (IOException _) {
      return false;
    }
  }

  /** Returns the CPU time of the process and its children, in user and kernel mode. */
  long cpuNanos() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .mapToLong(handle -> cpuTicks(handle.pid()) * NANOS_PER_TICK)
        .sum();
  }

  private static long cpuTicks(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    } catch (NoSuchFileException _) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns {@code VmRSS} or {@code VmHWM} from {@code /proc/<pid>/status}, in MB. */
  long memoryMegabytes(String figure) {
    try (Stream<String> lines = Files.lines(Path.of("/proc/" + process.pid() + "/status"))) {
      String line = lines.filter(l -> l.startsWith(figure + ":")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", "")) * 1_024 / 1_000_000;
    } catch (IOException _) {
      throw new InvalidRunException(name + " has exited; its last output: " + lastOutput());
    }
  }

  /** Returns whether the process uses io_uring and not a fallback. */
  boolean usesIoUring() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      return descriptors.anyMatch(Server::isRing);
    }
  }

  private static boolean isRing(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains("io_uring");
    } catch (IOException _) {
      return false; // closed meanwhile
    }
  }

  String lastOutput() {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Terminates the process and waits for its end, so that a JVM can write its AOT cache. */
  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
    }
  }

  static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new InvalidRunException("Interrupted.");
    }
  }
}
