package io.inferspan.samples.gateway;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The P/D sidecar as in a pod: a separate process, configured by flags and variables. */
final class SidecarProcess implements AutoCloseable {

  private static final long START_SECONDS = 30;

  private final Process process;
  private final Path log;
  private final int port;

  SidecarProcess(int enginePort, String collector, String spanNames)
      throws IOException, InterruptedException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    log = Files.createTempFile("sidecar", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "io.inferspan.pd.PdSidecar",
                    "--port=" + port,
                    "--model-server-port=" + enginePort,
                    "--secure-proxy=false",
                    "--event-loops=1",
                    "--tracing"))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder
        .environment()
        .putAll(
            Map.of(
                "OTEL_EXPORTER_OTLP_ENDPOINT", collector,
                "OTEL_BSP_SCHEDULE_DELAY", "50",
                "INFERSPAN_SPAN_NAMES", spanNames));
    process = builder.start();
    awaitHealth();
  }

  int port() {
    return port;
  }

  private void awaitHealth() throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!answers()) {
      if (!process.isAlive() || System.nanoTime() > end) {
        close();
        throw new AssertionError("the sidecar does not serve: " + Files.readString(log));
      }
      Thread.sleep(20);
    }
  }

  private boolean answers() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String request = "GET /health HTTP/1.1\r\nHost: sidecar\r\nConnection: close\r\n\r\n";
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
