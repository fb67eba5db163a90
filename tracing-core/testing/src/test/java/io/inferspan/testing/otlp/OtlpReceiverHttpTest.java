package io.inferspan.testing.otlp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.inferspan.testing.SpanRecord;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The receiver with clients other than the OTLP exporters. */
class OtlpReceiverHttpTest {
  private static final String PROTOBUF = "application/x-protobuf";
  private static final String TRACES = "/v1/traces";

  private final OtlpReceiver receiver = OtlpReceiver.start();
  private final byte[] message =
      ExportTraceServiceRequest.newBuilder()
          .addResourceSpans(
              ResourceSpans.newBuilder()
                  .addScopeSpans(
                      ScopeSpans.newBuilder()
                          .addSpans(
                              Span.newBuilder()
                                  .setName("by hand")
                                  .setTraceId(ByteString.copyFrom(new byte[16])))))
          .build()
          .toByteArray();

  @AfterEach
  void close() {
    receiver.close();
  }

  private HttpResponse<byte[]> post(String path, String type, byte[] body) throws Exception {
    return send(HttpClient.Version.HTTP_1_1, request(path, type, body));
  }

  private HttpRequest.Builder request(String path, String type, byte[] body) {
    return HttpRequest.newBuilder(URI.create(receiver.endpoint() + path))
        .timeout(Duration.ofSeconds(20))
        .header("content-type", type)
        .POST(HttpRequest.BodyPublishers.ofByteArray(body));
  }

  private static HttpResponse<byte[]> send(HttpClient.Version version, HttpRequest.Builder request)
      throws Exception {
    HttpClient client = HttpClient.newBuilder().version(version).build();
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  @ParameterizedTest
  @EnumSource(names = {"HTTP_1_1", "HTTP_2"})
  void plainHttpClient_isServed(HttpClient.Version version) throws Exception {
    // With HTTP_2 this client first asks an http:// server for an upgrade.
    HttpResponse<byte[]> response = send(version, request(TRACES, PROTOBUF, message));
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type")).hasValue(PROTOBUF);
    assertThat(response.body()).as("an empty ExportTraceServiceResponse").isEmpty();
    assertThat(receiver.spans()).extracting(SpanRecord::name).containsExactly("by hand");
    assertThat(receiver.protocols()).containsExactly("http");
  }

  @Test
  void json_isRejected() throws Exception {
    HttpResponse<byte[]> response = post(TRACES, "application/json", "{}".getBytes(UTF_8));
    assertThat(response.statusCode()).isEqualTo(415);
    assertThat(new String(response.body(), UTF_8)).contains("not application/json");
    assertThat(receiver.requestCount()).isEqualTo(1);
    assertThat(receiver.rawBodies()).containsExactly("{}".getBytes(UTF_8));
  }

  @Test
  void garbage_isRejectedButRecorded() throws Exception {
    byte[] garbage = "no protobuf at all".getBytes(UTF_8);
    assertThat(post(TRACES, PROTOBUF, garbage).statusCode()).isEqualTo(400);
    assertThat(receiver.rawBodies()).containsExactly(garbage);
    assertThat(receiver.spans()).isEmpty();
  }

  @Test
  void invalidGzip_isRejectedButRecorded() throws Exception {
    HttpRequest.Builder lie = request(TRACES, PROTOBUF, message).header("content-encoding", "gzip");
    assertThat(send(HttpClient.Version.HTTP_1_1, lie).statusCode()).isEqualTo(400);
    assertThat(receiver.rawBodies()).containsExactly(message);
  }

  @Test
  void otherPaths_areNotFound_butTheirBytesAreRecorded() throws Exception {
    assertThat(post("/v1/metrics", PROTOBUF, message).statusCode()).isEqualTo(404);
    assertThat(receiver.requestCount()).as("trace export calls").isZero();
    assertThat(receiver.rawBodies()).containsExactly(message);
    assertThat(receiver.spans()).isEmpty();
  }

  @Test
  void otherMethods_areRejected() throws Exception {
    HttpRequest.Builder get = request(TRACES, PROTOBUF, message).GET();
    assertThat(send(HttpClient.Version.HTTP_1_1, get).statusCode()).isEqualTo(405);
  }

  @Test
  void grpcErrors_areInTheGrpcStatus() throws Exception {
    byte[] notFramed = "xx".getBytes(UTF_8);
    // HTTP/2 by upgrade needs a first request; the second then uses the same connection.
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
    HttpRequest first = request(TRACES, PROTOBUF, message).build();
    client.send(first, HttpResponse.BodyHandlers.discarding());
    assertThat(grpc(client, ExportHandler.GRPC_PATH, notFramed)).isEqualTo("3");
    assertThat(grpc(client, "/some.other.Service/Call", notFramed)).isEqualTo("12");
    assertThat(receiver.rawBodies()).containsExactly(message, notFramed, notFramed);
  }

  private String grpc(HttpClient client, String path, byte[] body) throws Exception {
    HttpRequest request = request(path, "application/grpc", body).build();
    HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("grpc-message")).isPresent();
    return response.headers().firstValue("grpc-status").orElse("none");
  }

  @Test
  void retainedBytes_areLimited_andDroppedBodiesAreCounted() {
    byte[] third = new byte[OtlpReceiver.MAX_RETAINED_BYTES / 3];
    for (int i = 0; i < 5; i++) {
      receiver.bodies.add(List.of(third));
    }
    assertThat(receiver.rawBodies()).hasSize(3);
    assertThat(receiver.discardedBodies()).isEqualTo(2);
    receiver.clear();
    for (int i = 0; i < OtlpReceiver.MAX_RETAINED_CALLS + 5; i++) {
      receiver.bodies.add(List.of(new byte[0]));
      receiver.calls.add(List.of(new OtlpReceiver.Call("grpc", Map.of())));
    }
    assertThat(receiver.discardedBodies()).isEqualTo(5);
    assertThat(receiver.requestHeaders()).hasSize(OtlpReceiver.MAX_RETAINED_CALLS);
    assertThat(receiver.requestCount()).isEqualTo(OtlpReceiver.MAX_RETAINED_CALLS + 5);
  }

  @Test
  void unclosedReceiver_doesNotKeepTheJvmAlive() throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    System.getProperty("java.home") + "/bin/java",
                    "-cp",
                    System.getProperty("java.class.path"),
                    Forgetful.class.getName()))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    boolean hasEnded = process.waitFor(60, TimeUnit.SECONDS);
    process.destroyForcibly();
    assertThat(hasEnded).isTrue();
    assertThat(process.exitValue()).isEqualTo(17);
  }

  /** A program that starts a receiver and an unanswered call, and returns from main. */
  static final class Forgetful {
    private Forgetful() {}

    public static void main(String[] arguments) {
      OtlpReceiver forgotten = OtlpReceiver.start();
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> Runtime.getRuntime().halt(forgotten.port() > 0 ? 17 : 1)));
    }
  }
}
