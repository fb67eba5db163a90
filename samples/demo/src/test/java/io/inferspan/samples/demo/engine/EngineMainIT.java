package io.inferspan.samples.demo.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Tests the engine as a process, with a subscriber that was started earlier. */
class EngineMainIT {

  @Test
  @Timeout(60)
  void engineWithAnEarlySubscriber_isReadyOnlyWhenItServes() throws Exception {
    int port = freePort();
    int kvPort = freePort();
    try (ZContext zmq = new ZContext()) {
      ZMQ.Socket gateway = zmq.createSocket(SocketType.SUB);
      gateway.setReconnectIVL(5);
      gateway.connect("tcp://127.0.0.1:" + kvPort);
      gateway.subscribe(ZMQ.SUBSCRIPTION_ALL);
      Process engine = engine(port, kvPort);
      try (BufferedReader output =
          new BufferedReader(
              new InputStreamReader(engine.getInputStream(), StandardCharsets.UTF_8))) {
        String line = output.readLine();
        while (line != null && !line.contains(EngineMain.READY)) {
          line = output.readLine();
        }

        assertThat(line).isNotNull();
        assertThat(status(port)).isEqualTo(200);
      } finally {
        engine.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      }
    }
  }

  private static Process engine(int port, int kvPort) throws IOException {
    ProcessBuilder engine =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            EngineMain.class.getName(),
            "--name=engine",
            "--port=" + port,
            "--kv-port=" + kvPort);
    engine.environment().put("OTEL_TRACES_EXPORTER", "none");
    return engine.redirectErrorStream(true).start();
  }

  private static int status(int port) throws IOException {
    URI health = URI.create("http://127.0.0.1:" + port + "/health");
    return ((HttpURLConnection) health.toURL().openConnection()).getResponseCode();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
