package io.inferspan.pd;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.Wire;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the program as a process: arguments, environment, exit status and signals. */
@Timeout(60)
final class PdSidecarTest {
  private static final int ENDED_BY_SIGTERM = 128 + 15;
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String GET = "GET /x HTTP/1.1\r\nhost: a\r\n\r\n";

  private final int port = FreePort.next();

  private Program serving(int engine, Map<String, String> env, String... more) throws IOException {
    String[] args = new String[more.length + 3];
    args[0] = "--port=" + port;
    args[1] = "--model-server-port=" + engine;
    args[2] = "--secure-proxy=false";
    System.arraycopy(more, 0, args, 3, more.length);
    return Program.start(env, args);
  }

  private static Map<String, String> tracedTo(OtlpReceiver receiver) {
    return Map.of(
        "OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint(),
        "OTEL_TRACES_SAMPLER", "always_on",
        "OTEL_BSP_SCHEDULE_DELAY", "600000");
  }

  @Test
  void help_namesTheFlags_withStatus0() throws Exception {
    try (Program program = Program.start(Map.of(), "--help")) {
      assertThat(program.status()).isZero();
      assertThat(program.out()).anyMatch(line -> line.contains("--model-server-port"));
      assertThat(program.err()).isEmpty();
    }
  }

  @Test
  void version_isOneLine_withStatus0() throws Exception {
    try (Program program = Program.start(Map.of(), "--version")) {
      assertThat(program.status()).isZero();
      assertThat(program.out()).singleElement().asString().startsWith("inferspan-pd-sidecar ");
      assertThat(program.err()).isEmpty();
    }
  }

  @Test
  void invalidFlag_isOneSentence_withStatus2() throws Exception {
    try (Program program = Program.start(Map.of(), "--kv-connector=pigeon")) {
      assertThat(program.status()).isEqualTo(2);
      assertThat(program.err()).singleElement().asString().contains("pigeon", "nixlv2");
      assertThat(program.out()).isEmpty();
    }
  }

  @Test
  void portInUse_isOneSentence_withStatus1() throws Exception {
    try (ServerSocket taken = new ServerSocket(port);
        Program program = serving(FreePort.next(), Map.of())) {
      assertThat(program.status()).isEqualTo(1);
      assertThat(program.err())
          .singleElement()
          .asString()
          .contains("cannot listen on port " + taken.getLocalPort());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "OTEL_BSP_MAX_QUEUE_SIZE, abc",
    "OTEL_EXPORTER_OTLP_PROTOCOL, pigeon",
  })
  void wrongTracingValue_isOneWarning_andRequestsAreServed(String name, String value)
      throws Exception {
    try (RawServer engine = RawServer.answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        Program program = serving(engine.port(), Map.of(name, value), "--tracing").ready();
        Wire client = Wire.to(port)) {
      assertThat(client.send(GET).message().status()).isEqualTo(200);

      program.terminate();
      assertThat(program.status()).isEqualTo(ENDED_BY_SIGTERM);
      assertThat(program.err())
          .filteredOn(line -> line.contains(" WARNING io.inferspan.pd: Requests are not traced"))
          .singleElement()
          .asString()
          .contains(value);
      assertThat(program.err()).noneMatch(line -> line.startsWith("\tat "));
    }
  }

  @Test
  void readyLine_namesPortsDecoderAndTransport() throws Exception {
    try (Program program = serving(8200, Map.of(), "--transport=nio").ready()) {
      assertThat(program.err())
          .singleElement()
          .asString()
          .endsWith("listening on http :%d -> localhost:8200 (nixlv2, nio)".formatted(port));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"epoll", "io_uring"})
  void unavailableTransport_isOneSentence_withStatus2(String transport) throws Exception {
    Map<String, String> forbidding =
        Map.of("JDK_JAVA_OPTIONS", "-Dio.netty.transport.noNative=true");
    try (Program program = serving(8200, forbidding, "--transport=" + transport)) {
      assertThat(program.status()).isEqualTo(2);
      assertThat(program.err())
          .filteredOn(line -> !line.startsWith("NOTE: Picked up JDK_JAVA_OPTIONS"))
          .singleElement()
          .asString()
          .startsWith("transport is %s, which is not available here (".formatted(transport))
          .contains("noNative")
          .endsWith("); use auto");
    }
  }

  @Test
  void sigterm_letsRequestsEnd_andExportsTheirSpans() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        RawServer engine = RawServer.running(PdSidecarTest::answeringWhenTold);
        Program program = serving(engine.port(), tracedTo(receiver), "--tracing").ready();
        Wire client = Wire.to(port).send(GET)) {
      String head = client.head();

      program.terminate();
      Awaited.within(SOON, "no more connections", this::refused);
      engine.saw("go");

      assertThat(client.body(head).body()).isEqualTo("hiho");
      assertThat(program.status()).isEqualTo(ENDED_BY_SIGTERM);
      assertThat(receiver.spans())
          .singleElement()
          .satisfies(span -> assertThat(span.name()).isEqualTo("llm_d.pd_proxy.request"))
          .satisfies(span -> assertThat(span.isError()).isFalse())
          .satisfies(span -> assertThat(span.serviceName()).isEqualTo("llm-d-pd-proxy"));
    }
  }

  @Test
  void requestBeyondTheShutdownTimeout_isAborted_andItsSpanIsExported() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        RawServer engine = RawServer.running(PdSidecarTest::answeringWhenTold);
        Program program =
            serving(engine.port(), tracedTo(receiver), "--tracing", "--shutdown-timeout=100ms")
                .ready();
        Wire client = Wire.to(port).send(GET)) {
      client.head();

      program.terminate();

      assertThat(client.rest()).isEqualTo("2\r\nhi\r\n");
      assertThat(program.status()).isEqualTo(ENDED_BY_SIGTERM);
      assertThat(receiver.spans())
          .singleElement()
          .satisfies(span -> assertThat(span.attribute("error.type")).isEqualTo("shutdown"));
    }
  }

  private static void answeringWhenTold(Wire wire, RawServer server) throws IOException {
    server.request(wire);
    wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n");
    Awaited.within(SOON, "the test permits it", () -> server.heads().contains("go"));
    wire.send("2\r\nho\r\n0\r\n\r\n");
    wire.rest();
  }

  private boolean refused() {
    try (Wire _ = Wire.to(port)) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
