package io.inferspan.samples.kvcache;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A Redis server for the benchmark, on loopback and without persistence. */
final class LocalRedis implements AutoCloseable {

  private static final long START_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int port;
  private final Process process;

  private LocalRedis(int port, Process process) {
    this.port = port;
    this.process = process;
  }

  /** Starts the {@code redis-server} on the {@code PATH}. */
  static LocalRedis start() throws IOException {
    int port = freePort();
    String[] command = {
      "redis-server", "--port", Integer.toString(port), "--save", "", "--appendonly", "no"
    };
    Process process =
        new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    LocalRedis redis = new LocalRedis(port, process);
    redis.await();
    return redis;
  }

  String url() {
    return "redis://127.0.0.1:" + port;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void await() throws IOException {
    long deadline = System.nanoTime() + START_LIMIT_NANOS;
    while (!answers()) {
      if (System.nanoTime() > deadline || !process.isAlive()) {
        close();
        throw new IOException("redis-server did not start");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  private boolean answers() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
