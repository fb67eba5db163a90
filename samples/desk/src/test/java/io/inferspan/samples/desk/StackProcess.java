package io.inferspan.samples.desk;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process of the stack that exports to the desk. */
final class StackProcess implements AutoCloseable {

  /** The classes of a module that is built earlier; missing if this module is built alone. */
  static final Path GATEWAY = Path.of("../vertx-gateway/target/classes").toAbsolutePath();

  private static final long START_SECONDS = 30;

  private final Process process;
  private final Path log;
  private final int port;

  private StackProcess(String main, String desk, int port, List<String> flags)
      throws IOException, InterruptedException {
    this.port = port;
    log = Files.createTempFile("stack", ".log");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path") + File.pathSeparator + GATEWAY,
                main,
                "--port=" + port,
                "--event-loops=1"));
    command.addAll(flags);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder
        .environment()
        .putAll(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", desk, "OTEL_BSP_SCHEDULE_DELAY", "50"));
    process = builder.start();
    awaitHealth();
  }

  static StackProcess sidecar(String desk, int enginePort)
      throws IOException, InterruptedException {
    return new StackProcess(
        "io.inferspan.pd.PdSidecar",
        desk,
        freePort(),
        List.of("--model-server-port=" + enginePort, "--secure-proxy=false", "--tracing"));
  }

  static StackProcess gateway(String desk, String decode, String prefill)
      throws IOException, InterruptedException {
    return new StackProcess(
        "io.inferspan.samples.gateway.GatewayMain",
        desk,
        freePort(),
        List.of(
            "--host=127.0.0.1",
            "--metrics-port=none",
            "--decode=" + decode,
            "--prefill=" + prefill));
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  int port() {
    return port;
  }

  long pid() {
    return process.pid();
  }

  String authority() {
    return "127.0.0.1:" + port;
  }

  private void awaitHealth() throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!answers()) {
      if (!process.isAlive() || System.nanoTime() > end) {
        String said = Files.readString(log);
        close();
        throw new AssertionError("a program of the stack does not serve: " + said);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private boolean answers() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String request = "GET /health HTTP/1.1\r\nHost: stack\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII)
          .equals("HTTP/1.1 200");
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    File file = log.toFile();
    if (!file.delete()) {
      file.deleteOnExit();
    }
  }
}
