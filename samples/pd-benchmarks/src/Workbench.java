import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Owns a temporary folder with the compiled tools, and all started processes. Closing it ends the processes and deletes the folder. */
final class Workbench implements AutoCloseable {
  /** The folder with the sources of this benchmark. */
  static final Path HOME = Path.of(System.getProperty("bench.home"));

  /** The core of the server under test. Load generator, upstream and harness share another core. */
  private static final String SERVER_CORE = System.getenv().getOrDefault("SERVER_CORE", "1");

  private final Path folder;
  private final List<Process> processes = new ArrayList<>();
  private final AtomicInteger logs = new AtomicInteger();
  private final Thread hook = new Thread(this::clear);

  Workbench() throws IOException {
    folder = Files.createTempDirectory("pd-benchmarks");
    Runtime.getRuntime().addShutdownHook(hook);
    build("the C tools", "cc", "-O2", "-o", tool("upstream"), HOME + "/native/upstream.c");
    build("the C tools", "cc", "-O2", "-o", tool("load"), HOME + "/native/load.c");
  }

  Path folder() {
    return folder;
  }

  /** Returns the path of a tool in the temporary folder. */
  String tool(String name) {
    return folder.resolve(name).toString();
  }

  void build(String what, String... command) throws IOException {
    Path log = folder.resolve("build.log");
    try {
      Process build =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      if (build.waitFor() != 0) {
        throw new InvalidRunException("Building " + what + " failed: " + Files.readString(log));
      }
    } catch (InterruptedException e) {
      throw new InvalidRunException("Interrupted while building " + what + ".");
    }
  }

  /** Writes a peer's configuration; replaces every {@code @NAME@} in the template. */
  Path configure(String template, Path target, Map<String, String> values) throws IOException {
    String text = Files.readString(HOME.resolve("peers").resolve(template));
    for (Map.Entry<String, String> value : values.entrySet()) {
      text = text.replace("@" + value.getKey() + "@", value.getValue());
    }
    return Files.writeString(target, text);
  }

  /** Starts a process on the load generator's core. */
  Server start(String name, int port, List<String> command) throws IOException {
    return start(name, port, command, Map.of());
  }

  /** Starts a process on the server core. */
  Server startPinned(String name, int port, List<String> command, Map<String, String> environment)
      throws IOException {
    List<String> pinned = new ArrayList<>(List.of("setpriv", "--pdeathsig", "TERM"));
    pinned.addAll(List.of("taskset", "-c", SERVER_CORE));
    pinned.addAll(command);
    return start(name, port, pinned, environment);
  }

  /** Starts a client whose output the harness reads. */
  Process startClient(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    processes.add(process);
    return process;
  }

  private Server start(String name, int port, List<String> command, Map<String, String> environment)
      throws IOException {
    Path log = folder.resolve(logs.incrementAndGet() + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    processes.add(process);
    return new Server(name, port, process, log);
  }

  /** Returns a free loopback port. */
  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns whether a program is on the path. */
  static boolean has(String program) {
    for (String folder : System.getenv("PATH").split(":")) {
      if (Files.isExecutable(Path.of(folder, program))
          || Files.isExecutable(Path.of("/usr/sbin", program))) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(hook);
    clear();
  }

  private void clear() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    try (var files = Files.walk(folder)) {
      for (Process process : processes) {
        process.waitFor(5, TimeUnit.SECONDS);
      }
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException | InterruptedException e) {
      System.err.println("Could not delete " + folder);
    }
  }
}
