package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.Awaited;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis or Valkey server for a test, on its own port, in a temporary directory.
 *
 * <p>It can be killed and restarted on the same port, frozen and thawed. It stores nothing on disk,
 * so it is empty after a restart.
 */
public final class RedisServer implements AutoCloseable {

  /** The message of a test that is skipped because there is no server. */
  public static final String MISSING =
      "needs redis-server or valkey-server on the PATH: apt-get install redis-server";

  private static final List<String> BINARIES = List.of("redis-server", "valkey-server");
  private static final Duration START_LIMIT = Duration.ofSeconds(20);

  private final String binary;
  private final int port;
  private final Path directory;
  private final List<String> settings;
  private @Nullable Process process;

  private RedisServer(String binary, int port, Path directory, List<String> settings) {
    this.binary = binary;
    this.port = port;
    this.directory = directory;
    this.settings = settings;
  }

  /** The servers to test with: those on the PATH, else the packaged one; empty if it cannot run. */
  public static List<String> installed() {
    List<String> onPath = BINARIES.stream().filter(RedisServer::onPath).toList();
    String packaged = onPath.isEmpty() ? PackagedRedis.path() : null;
    return packaged == null ? onPath : List.of(packaged);
  }

  /** Starts the first installed server; {@code settings} are as on its command line. */
  public static RedisServer start(String... settings) {
    return start(installed().get(0), List.of(settings));
  }

  /** Starts a certain server. */
  public static RedisServer start(String binary, List<String> settings) {
    try {
      Path directory = Files.createTempDirectory("redis-server");
      RedisServer server = new RedisServer(binary, freePort(), directory, settings);
      server.restart();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a Sentinel, which says where the master of that name is. */
  public static RedisServer sentinel(String name, RedisServer master) {
    try {
      Path directory = Files.createTempDirectory("redis-sentinel");
      String known = "sentinel monitor " + name + " 127.0.0.1 " + master.port + " 1\n";
      // Sentinel reads and writes its state in this file.
      Path file = Files.writeString(directory.resolve("sentinel.conf"), known);
      List<String> settings = List.of(file.toString(), "--sentinel");
      RedisServer sentinel = new RedisServer(master.binary, freePort(), directory, settings);
      sentinel.restart();
      return sentinel;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a port that was free a moment ago. */
  public static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts it again, empty, on the port it had. */
  public void restart() {
    kill();
    try {
      ProcessBuilder builder = new ProcessBuilder(command()).directory(directory.toFile());
      builder.redirectErrorStream(true).redirectOutput(log().toFile());
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!Awaited.holds(START_LIMIT, this::isUp)) {
      throw new AssertionError(binary + " does not start: " + logged());
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>(List.of(binary));
    if (isSentinel()) {
      command.addAll(settings);
    }
    if (!settings.contains("--port")) {
      command.addAll(List.of("--port", Integer.toString(port)));
    }
    command.addAll(List.of("--bind", "127.0.0.1", "--save", "", "--dir", directory.toString()));
    command.addAll(List.of("--unixsocket", socket().toString()));
    if (!isSentinel()) {
      command.addAll(settings);
    }
    return command;
  }

  private boolean isSentinel() {
    return settings.contains("--sentinel");
  }

  private boolean isUp() {
    Process started = process;
    if (started == null || !started.isAlive()) {
      throw new AssertionError(binary + " has ended: " + logged());
    }
    return logged().contains(isSentinel() ? "+monitor master" : "eady to accept connections");
  }

  /** Kills it without a word, as {@code kill -9} does. */
  public void kill() {
    Process started = process;
    if (started != null) {
      started.destroyForcibly().onExit().join();
      process = null;
    }
  }

  /** Stops its clock: it accepts connections and answers nothing. */
  public void freeze() {
    signal("STOP");
  }

  /** Lets a frozen server go on. */
  public void thaw() {
    signal("CONT");
  }

  private void signal(String name) {
    Process started = process;
    if (started == null) {
      throw new IllegalStateException("the server is not running");
    }
    try {
      String pid = Long.toString(started.pid());
      Process kill = new ProcessBuilder("kill", "-" + name, pid).inheritIO().start();
      if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new AssertionError("kill -" + name + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the server's port. */
  public int port() {
    return port;
  }

  /** Its socket in the file system. */
  public Path socket() {
    return directory.resolve("redis.sock");
  }

  /** Its address as a URL. */
  public String address() {
    return "redis://127.0.0.1:" + port;
  }

  /** A plain connection to it, for what another implementation would send. */
  public RawRedis connect() {
    return RawRedis.connect(port);
  }

  private Path log() {
    return directory.resolve("log");
  }

  private String logged() {
    try {
      return Files.exists(log()) ? Files.readString(log()) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean onPath(String binary) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(":"))
        .filter(entry -> !entry.isEmpty())
        .anyMatch(entry -> Files.isExecutable(Path.of(entry, binary)));
  }

  @Override
  public void close() {
    kill();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
