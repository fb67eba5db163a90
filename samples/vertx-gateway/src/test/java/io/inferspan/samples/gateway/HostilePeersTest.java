package io.inferspan.samples.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests engines and clients that violate HTTP, over plain sockets. */
final class HostilePeersTest {

  private static String chat(String model) {
    String body = "{\"model\":\"%s\"}".formatted(model);
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(body.length(), body);
  }

  /** Reads until the text has arrived, or the peer has closed. */
  private static String read(Socket socket, String until) throws IOException {
    socket.setSoTimeout(10_000);
    InputStream in = socket.getInputStream();
    StringBuilder read = new StringBuilder();
    for (int next = in.read(); next >= 0; next = in.read()) {
      read.append((char) next);
      if (read.indexOf(until) >= 0) {
        break;
      }
    }
    return read.toString();
  }

  private static Socket connect(RunningGateway gateway) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), gateway.port());
  }

  /** Serves one connection until the end of the test. */
  private interface Script {
    void serve(Socket socket) throws Exception;
  }

  private static void serve(ServerSocket engine, Script script) {
    daemon(
        () -> {
          while (!engine.isClosed()) {
            Socket socket = engine.accept();
            daemon(
                () -> {
                  try (socket) {
                    script.serve(socket);
                  }
                });
          }
        });
  }

  private interface Work {
    void run() throws Exception;
  }

  private static void daemon(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Exception closed) {
                // The gateway or the test has closed the socket.
              }
            },
            "raw-engine");
    thread.setDaemon(true);
    thread.start();
  }

  /** Answers a request for "first" with 102, and with 200 after 300 ms. */
  private static void answerLate(Socket socket) throws Exception {
    String request = read(socket, "\"}");
    String model = request.substring(request.indexOf('{'));
    if (model.contains("first")) {
      socket.getOutputStream().write("HTTP/1.1 102 Processing\r\n\r\n".getBytes(US_ASCII));
      Thread.sleep(300);
    }
    String answer =
        "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s".formatted(model.length(), model);
    socket.getOutputStream().write(answer.getBytes(US_ASCII));
    read(socket, "\"}");
  }

  @Test
  void responseAfterAnInterimResponse_reachesNoOtherClient() throws Exception {
    try (ServerSocket engine = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      serve(engine, HostilePeersTest::answerLate);
      try (RunningGateway gateway =
              RunningGateway.start(
                  builder -> builder,
                  "--decode=127.0.0.1:" + engine.getLocalPort(),
                  "--event-loops=1");
          Socket first = connect(gateway);
          Socket second = connect(gateway)) {
        first.getOutputStream().write(chat("first").getBytes(US_ASCII));
        assertThat(read(first, "}}")).startsWith("HTTP/1.1 502 ");
        second.getOutputStream().write(chat("second").getBytes(US_ASCII));
        assertThat(read(second, "\"}")).startsWith("HTTP/1.1 200 ").contains("second");
      }
    }
  }

  private static String ask(String request) throws Exception {
    try (FakeEngine engine = FakeEngine.start();
        RunningGateway gateway = RunningGateway.start(null, List.of(engine));
        Socket client = connect(gateway)) {
      client.getOutputStream().write(request.getBytes(US_ASCII));
      String answer = read(client, "\r\n\r\n");
      assertThat(engine.requests()).isEmpty();
      return answer;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "NONSENSE\r\n\r\n",
        "GET /v1/models HTTP/9.7x\r\nHost: a\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\n\r\n",
        "GET http://10.0.0.1/v1/models HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT 10.0.0.1:443 HTTP/1.1\r\nHost: 10.0.0.1:443\r\n\r\n",
        "POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
      })
  void requestForAnotherServer_is400(String request) throws Exception {
    try (QuietLog log = new QuietLog()) {
      assertThat(ask(request)).matches("(?s)HTTP/1.[01] 400 .*");
      log.assertEmpty();
    }
  }

  @Test
  void pipelinedRequests_areAllAnswered() throws Exception {
    try (QuietLog log = new QuietLog();
        FakeEngine engine = FakeEngine.start();
        RunningGateway gateway = RunningGateway.start(null, List.of(engine));
        Socket client = connect(gateway)) {
      String one = "GET /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n";
      String last = one.replace("Host", "Connection: close\r\nHost");
      client.getOutputStream().write((one.repeat(299) + last).getBytes(US_ASCII));
      assertThat(read(client, "never").split("HTTP/1.1 200 ", -1)).hasSize(301);
      log.assertEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "POST /v1/chat/completions HTTP/1.1\r\nHost: ga",
        "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"
      })
  void connectionWithoutACompleteRequest_isClosed(String part) throws Exception {
    try (FakeEngine engine = FakeEngine.start();
        RunningGateway gateway =
            RunningGateway.start(null, List.of(engine), "--idle-timeout-seconds=1");
        Socket client = connect(gateway)) {
      client.getOutputStream().write(part.getBytes(US_ASCII));
      read(client, "never");
    }
  }

  @Test
  void connectionThatWaitsForItsResponse_staysOpen() throws Exception {
    try (FakeEngine engine = FakeEngine.start()) {
      engine.script(EngineScript.builder().slowHeaders(Duration.ofMillis(2_500)).build());
      try (RunningGateway gateway =
              RunningGateway.start(null, List.of(engine), "--idle-timeout-seconds=1");
          Socket client = connect(gateway)) {
        client.getOutputStream().write(chat("tiny").getBytes(US_ASCII));
        assertThat(read(client, "\"}")).startsWith("HTTP/1.1 200 ");
      }
    }
  }

  @Test
  void responseThatIsNotHttp_is502_andNotLogged() throws Exception {
    try (QuietLog log = new QuietLog();
        ServerSocket engine = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      serve(
          engine,
          socket -> {
            read(socket, "\"}");
            socket.getOutputStream().write("secret answer\r\n\r\n".getBytes(US_ASCII));
          });
      try (RunningGateway gateway =
              RunningGateway.start(
                  builder -> builder, "--decode=127.0.0.1:" + engine.getLocalPort());
          Socket client = connect(gateway)) {
        client.getOutputStream().write(chat("tiny").getBytes(US_ASCII));
        assertThat(read(client, "}}")).startsWith("HTTP/1.1 502 ");
      }
      log.assertEmpty();
    }
  }

  /** Collects log records above INFO. */
  private static final class QuietLog extends Handler implements AutoCloseable {
    private final List<String> records = new CopyOnWriteArrayList<>();
    private final Logger root = Logger.getLogger("");

    QuietLog() {
      root.addHandler(this);
    }

    void assertEmpty() {
      assertThat(records).isEmpty();
    }

    @Override
    public void publish(LogRecord record) {
      if (record.getLevel().intValue() > Level.INFO.intValue()) {
        records.add(record.getLoggerName() + ": " + record.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      root.removeHandler(this);
    }
  }
}
