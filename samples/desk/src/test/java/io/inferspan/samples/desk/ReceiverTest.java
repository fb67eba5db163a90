package io.inferspan.samples.desk;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.Received;
import io.inferspan.samples.desk.otlp.TestSpan;
import io.inferspan.samples.desk.receiver.OtlpServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the receiver over real sockets. */
class ReceiverTest {

  private static final String[] PROTOBUF = {"content-type", "application/x-protobuf"};

  private final RunningDesk desk = RunningDesk.start();

  @AfterEach
  void close() {
    desk.close();
  }

  private static byte[] request() {
    return TestSpan.export(TestSpan.named("checkout", "shop").id(7, 1, 0).at(0, 10));
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    }
    return packed.toByteArray();
  }

  private List<Map<String, Object>> requests() throws IOException, InterruptedException {
    return RunningDesk.list(RunningDesk.object(desk.get("/api/requests").body()), "requests");
  }

  private Map<String, Object> dropped() throws IOException, InterruptedException {
    Object dropped =
        RunningDesk.member(RunningDesk.object(desk.get("/api/stats").body()), "dropped");
    return ((Map<?, ?>) dropped)
        .entrySet().stream()
            .collect(Collectors.toMap(e -> e.getKey().toString(), Map.Entry::getValue));
  }

  private void exportsWith(SpanExporter exporter) throws IOException, InterruptedException {
    try (SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(
                Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), "shop")))
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build()) {
      Span span = provider.get("test").spanBuilder("checkout").startSpan();
      span.setAttribute("basket", 3);
      span.end();
      assertThat(provider.forceFlush().join(10, TimeUnit.SECONDS).isSuccess()).isTrue();
      desk.await(
          "/api/traces/" + span.getSpanContext().getTraceId(),
          trace ->
              RunningDesk.member(RunningDesk.list(trace, "spans").getFirst(), "name")
                  .equals("checkout"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "gzip"})
  void spansOverGrpc_areAccepted(String compression) throws Exception {
    exportsWith(
        OtlpGrpcSpanExporter.builder()
            .setEndpoint("http://127.0.0.1:" + desk.otlpGrpcPort())
            .setCompression(compression)
            .build());
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "gzip"})
  void spansOverHttp_areAccepted(String compression) throws Exception {
    exportsWith(
        OtlpHttpSpanExporter.builder()
            .setEndpoint("http://127.0.0.1:" + desk.otlpHttpPort() + "/v1/traces")
            .setCompression(compression)
            .build());
  }

  @Test
  void json_isAccepted() throws Exception {
    String json =
        """
        {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00000000000000070000000000000007",
        "spanId":"0000000000000001","name":"checkout","startTimeUnixNano":"1790000000000000000",
        "endTimeUnixNano":"1790000000010000000"}]}]}]}\
        """;

    HttpResponse<byte[]> answer =
        desk.export(json.getBytes(StandardCharsets.UTF_8), "content-type", "application/json");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(requests()).singleElement().extracting("name").isEqualTo("checkout");
  }

  @Test
  void invalidSpan_isReportedAsRejected_inJson() throws Exception {
    String json =
        """
        {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00","spanId":"00","name":"x"}]}]}]}\
        """;

    HttpResponse<byte[]> answer =
        desk.export(json.getBytes(StandardCharsets.UTF_8), "content-type", "application/json");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(new String(answer.body(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"partialSuccess\":{\"rejectedSpans\":\"1\","
                + "\"errorMessage\":\"spans without a valid trace or span id\"}}");
  }

  @Test
  void garbage_isRefusedWithASentenceAndCounted() throws Exception {
    HttpResponse<byte[]> answer = desk.export("garbage".getBytes(StandardCharsets.UTF_8));

    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(new String(answer.body(), StandardCharsets.UTF_8))
        .contains("not an ExportTraceServiceRequest: ");
    assertThat(dropped()).containsOnly(Map.entry("malformed_call", 1.0));
  }

  @Test
  void failureOfTheReceiver_isNotCountedAsMalformed() throws Exception {
    Drops drops = new Drops();
    Consumer<List<Received>> sink =
        spans -> {
          throw new IllegalStateException();
        };
    Vertx vertx = Vertx.vertx();
    try {
      HttpServer server =
          new OtlpServer(vertx, sink, drops)
              .listen("127.0.0.1", 0)
              .toCompletionStage()
              .toCompletableFuture()
              .get(20, TimeUnit.SECONDS);
      URI traces = URI.create("http://127.0.0.1:" + server.actualPort() + "/v1/traces");
      HttpRequest call =
          HttpRequest.newBuilder(traces)
              .headers(PROTOBUF)
              .POST(HttpRequest.BodyPublishers.ofByteArray(request()))
              .build();

      assertThat(desk.client().send(call, HttpResponse.BodyHandlers.discarding()).statusCode())
          .isEqualTo(500);
      assertThat(drops.counted()).containsOnly(Map.entry("failed_call", 1L));
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void garbageJson_isRefusedWithASentence() throws Exception {
    for (String body :
        List.of("", "[]", "{\"resourceSpans\":[7]}", "{\"resourceSpans\":[", "nonsense")) {
      HttpResponse<byte[]> answer =
          desk.export(body.getBytes(StandardCharsets.UTF_8), "content-type", "application/json");

      assertThat(answer.statusCode()).as(body).isEqualTo(400);
      assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains("message");
    }
  }

  @Test
  void invalidGzip_isRefused() throws Exception {
    HttpResponse<byte[]> answer =
        desk.export(request(), PROTOBUF[0], PROTOBUF[1], "content-encoding", "gzip");

    assertThat(answer.statusCode()).isEqualTo(400);
  }

  @Test
  void gzipBomb_isRefusedAndCounted() throws Exception {
    HttpResponse<byte[]> answer =
        desk.export(gzip(new byte[40 << 20]), PROTOBUF[0], PROTOBUF[1], "content-encoding", "gzip");

    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(dropped()).containsOnly(Map.entry("call_too_large", 1.0));
  }

  @Test
  void otherContent_isRefused() throws Exception {
    assertThat(desk.export(request(), "content-type", "text/plain").statusCode()).isEqualTo(415);
  }

  @Test
  void spansWithoutIds_areReportedAsRejected() throws Exception {
    HttpResponse<byte[]> answer =
        desk.export(
            TestSpan.export(
                TestSpan.named("a", "s").at(0, 1), TestSpan.named("b", "s").id(3, 1, 0).at(0, 1)));

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(new String(answer.body(), StandardCharsets.UTF_8))
        .contains("without a valid trace or span id");
    assertThat(requests()).hasSize(1);
  }

  private HttpResponse<byte[]> grpc(byte[] framed, Consumer<HttpRequest.Builder> more)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:"
                        + desk.otlpGrpcPort()
                        + "/opentelemetry.proto.collector.trace.v1.TraceService/Export"))
            .header("content-type", "application/grpc")
            .POST(HttpRequest.BodyPublishers.ofByteArray(framed));
    more.accept(request);
    return desk.client().send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  @Test
  void grpcFrameWithAWrongLength_isAnInvalidArgument() throws Exception {
    byte[] message = request();
    byte[] lying =
        ByteBuffer.allocate(5 + message.length).put((byte) 0).putInt(1 << 30).put(message).array();

    HttpResponse<byte[]> answer = grpc(lying, request -> {});

    assertThat(answer.headers().firstValue("grpc-status")).hasValue("3");
    assertThat(answer.headers().firstValue("grpc-message").orElse("")).contains("1073741824 bytes");
  }

  @Test
  void unknownGrpcMethod_isRefusedWithTheKnownOne() throws Exception {
    URI other = URI.create("http://127.0.0.1:" + desk.otlpGrpcPort() + "/v1/traces");

    HttpResponse<byte[]> answer = grpc(new byte[5], request -> request.uri(other));

    assertThat(answer.headers().firstValue("grpc-status")).hasValue("12");
    assertThat(answer.headers().firstValue("grpc-message").orElse(""))
        .endsWith("/opentelemetry.proto.collector.trace.v1.TraceService/Export");
  }

  @Test
  void hostileAttributes_areTruncatedAndCounted_andTheTraceIsShown() throws Exception {
    desk.export(
        TestSpan.export(
            TestSpan.named("<script>alert(1)</script>\u202e", "shop")
                .id(7, 1, 0)
                .at(0, 10)
                .with("huge", "x".repeat(5_000_000))));

    Map<String, Object> trace =
        RunningDesk.object(desk.get("/api/traces/" + TestSpan.traceIdText(7)).body());

    assertThat(RunningDesk.list(trace, "spans").getFirst().get("name"))
        .isEqualTo("<script>alert(1)</script>\u202e");
    assertThat(dropped()).containsOnly(Map.entry("text_cut", 1.0));
  }
}
