package io.inferspan.samples.embeddings;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.samples.embeddings.RunningProgram.Command;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.tracecontext.TraceContextSuite;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgramsIT {

  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final List<Class<?>> GATEWAYS =
      List.of(PlainGateway.class, VertxProxyGateway.class, NettyGateway.class);

  /** The gateway's span of a streamed response, and the engine's span below it. */
  private static final String TREE =
      """
      gateway.request [SERVER] {gen_ai.request.model=tiny, gen_ai.usage.completion_tokens=5, \
      http.response.status_code=200, \
      inferspan.response.first_token_ms=*, inferspan.response.complete=true}
        llm_request [SERVER]
      """;

  @Test
  void plainGateway_needsNoFramework() throws Exception {
    Command program = Command.of(PlainGateway.class, "vertx", "netty", "micrometer");

    assertThatSpans(traceOf(program, 2)).hasTree(TREE);
  }

  @Test
  void vertxProxy_tracesToTheLastToken() throws Exception {
    assertThatSpans(traceOf(Command.of(VertxProxyGateway.class), 2)).hasTree(TREE);
  }

  @Test
  void nettyGateway_tracesToTheLastToken() throws Exception {
    assertThatSpans(traceOf(Command.of(NettyGateway.class, "vertx"), 2)).hasTree(TREE);
  }

  @Test
  void requestsOfTheTraceContextSuite_arriveWithTheRightHeaders() throws Exception {
    try (TestEnvironment around = new TestEnvironment();
        RunningProgram program =
            Command.of(PlainGateway.class)
                .start(around.engine().authority(), around.collector().endpoint())) {
      TraceContextSuite.check(program.port(), around.engine());
    }
  }

  @Test
  void withTheAgent_thereIsOneTraceAndOneSdk() throws Exception {
    Path agent = Path.of("target", "agent", "opentelemetry-javaagent.jar").toAbsolutePath();
    Command program = Command.of(PlainGateway.class, "vertx", "netty").flag("-javaagent:" + agent);

    List<SpanRecord> spans = traceOf(program, 4);

    assertThatSpans(spans)
        .hasTree(
            """
            * [SERVER]
              gateway.request [SERVER] {http.response.status_code=200, inferspan.response.complete=true}
                * [CLIENT]
                  llm_request [SERVER]
            """);
    assertThat(assertThatSpans(spans).span("gateway.request").resource())
        .containsEntry("telemetry.distro.name", "opentelemetry-java-instrumentation");
  }

  @Test
  void requestWithoutEngine_isAnswered502AndTraced() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main).start("127.0.0.1:1", around.collector().endpoint())) {
        assertThat(around.ask(program.port()).statusCode()).as("%s", main).isEqualTo(502);

        List<SpanRecord> spans = around.collector().awaitTrace(TestEnvironment.TRACE, 1, LIMIT);
        assertThatSpans(spans).hasTree("gateway.request [SERVER] {error.type=*} ERROR");
      }
    }
  }

  @Test
  void engineThatClosesWithoutResponse_isReportedInThe502() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (ServerSocket engine = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
          TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main)
                  .start("127.0.0.1:" + engine.getLocalPort(), around.collector().endpoint())) {
        Thread.startVirtualThread(() -> closeEach(engine));
        assertThat(around.ask(program.port()).statusCode()).as("%s", main).isEqualTo(502);

        List<SpanRecord> spans = around.collector().awaitTrace(TestEnvironment.TRACE, 1, LIMIT);
        assertThatSpans(spans).hasTree("gateway.request [SERVER] {error.type=*} ERROR");
        assertThat(spans.getFirst().attribute("error.type")).isNotEqualTo("client_disconnected");
      }
    }
  }

  @Test
  void interimResponse_isNotTheEnd() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (ServerSocket engine = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
          TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main)
                  .start("127.0.0.1:" + engine.getLocalPort(), around.collector().endpoint())) {
        Thread.startVirtualThread(
            () ->
                answerEach(
                    engine,
                    "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
                        + "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone"));
        assertThat(around.ask(program.port()).body()).as("%s", main).isEqualTo("done");
        assertThat(gatewaySpan(around).attribute("http.response.status_code"))
            .as("%s", main)
            .isEqualTo(200L);
      }
    }
  }

  @Test
  void malformedRequest_doesNotReachTheEngine() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main).start(around.engine().authority(), around.collector().endpoint());
          Socket client = new Socket(InetAddress.getLoopbackAddress(), program.port())) {
        client
            .getOutputStream()
            .write("GET /v1/models HTTP/1.1\r\nno header\r\n\r\n".getBytes(US_ASCII));
        String answer = new String(client.getInputStream().readNBytes(12), US_ASCII);
        assertThat(answer).as("%s", main).isEqualTo("HTTP/1.1 400");
        assertThat(around.engine().requestCount()).isZero();
      }
    }
  }

  @Test
  void trustedCallersTrace_isContinued() throws Exception {
    for (Class<?> main : GATEWAYS) {
      Command program = Command.of(main).flag("-Dinferspan.trusted.callers=127.0.0.0/8");

      assertThatSpans(traceOf(program, 2)).hasTree(TREE);
    }
  }

  @Test
  void truncatedEngineResponse_truncatesTheResponse() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main).start(around.engine().authority(), around.collector().endpoint())) {
        around.engine().script(EngineScript.builder().tokens(9).cutAfterTokens(3).build());
        assertThatThrownBy(() -> around.ask(program.port()))
            .as("%s", main)
            .isInstanceOf(IOException.class);

        assertThat(gatewaySpan(around))
            .satisfies(span -> assertThat(span.isError()).as("%s", main).isTrue())
            .satisfies(
                span -> assertThat(span.attribute("inferspan.response.complete")).isEqualTo(false));
      }
    }
  }

  @Test
  void disconnectedClient_stopsTheEngine() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main).start(around.engine().authority(), around.collector().endpoint())) {
        around
            .engine()
            .script(
                EngineScript.builder().tokens(1000).betweenTokens(Duration.ofMillis(20)).build());
        around.askAndDisconnect(program.port());

        EngineRequest asked = around.engine().awaitRequests(1, LIMIT).getFirst();
        assertThat(asked.awaitEnd(LIMIT))
            .as("%s", main)
            .isEqualTo(EngineRequest.Outcome.CLIENT_GONE);
        assertThat(gatewaySpan(around).attribute("error.type")).isEqualTo("client_disconnected");
      }
    }
  }

  @Test
  void methodQueryAndHeaders_reachTheEngineAndTheClient() throws Exception {
    for (Class<?> main : GATEWAYS) {
      try (TestEnvironment around = new TestEnvironment();
          RunningProgram program =
              Command.of(main).start(around.engine().authority(), around.collector().endpoint())) {
        around.engine().script(EngineScript.builder().responseHeader("x-engine", "e7").build());
        assertThat(around.ask(program.port()).headers().firstValue("x-engine"))
            .as("%s", main)
            .hasValue("e7");
        around.get(program.port(), "/v1/models?after=a%20b");

        EngineRequest asked = around.engine().awaitRequests(2, LIMIT).getLast();
        assertThat(asked.method()).as("%s", main).isEqualTo("GET");
        assertThat(asked.query()).isEqualTo("after=a%20b");
        assertThat(asked.header("authorization")).isEqualTo("Bearer k");
        assertThat(asked.header("connection")).isNull();
      }
    }
  }

  private static SpanRecord gatewaySpan(TestEnvironment around) {
    return assertThatSpans(around.collector().awaitTrace(TestEnvironment.TRACE, 1, LIMIT))
        .span("gateway.request");
  }

  /** Accepts connections, reads the request and closes. */
  private static void closeEach(ServerSocket server) {
    answerEach(server, "");
  }

  /** Accepts connections, reads the request, answers and closes. */
  private static void answerEach(ServerSocket server, String answer) {
    while (!server.isClosed()) {
      try (Socket engine = server.accept()) {
        // Closing a socket with unread data would discard the answer.
        StringBuilder request = new StringBuilder();
        while (!request.toString().endsWith(TestEnvironment.BODY)) {
          int next = engine.getInputStream().read();
          if (next < 0) {
            throw new IOException("the request is incomplete");
          }
          request.append((char) next);
        }
        engine.getOutputStream().write(answer.getBytes(US_ASCII));
      } catch (IOException e) {
        // The test is over.
      }
    }
  }

  private static List<SpanRecord> traceOf(Command command, int spans) throws Exception {
    try (TestEnvironment around = new TestEnvironment();
        RunningProgram program =
            command.start(around.engine().authority(), around.collector().endpoint())) {
      HttpResponse<String> answer = around.ask(program.port());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("data: [DONE]");
      assertThat(around.engine().requests().getFirst().headers("traceparent")).hasSize(1);

      return around.collector().awaitTrace(TestEnvironment.TRACE, spans, LIMIT);
    }
  }
}
