package io.inferspan.testing.otlp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.testing.SdkSpans;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver.Behaviour;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The receiver with the real OTLP exporters. */
class OtlpReceiverTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final OtlpReceiver receiver = OtlpReceiver.start();
  private final List<SpanData> spans = SdkSpans.rich();

  @AfterEach
  void close() {
    receiver.close();
  }

  private SpanExporter exporter(String protocol, String compression) {
    return protocol.equals("grpc")
        ? OtlpGrpcSpanExporter.builder()
            .setEndpoint(receiver.endpoint())
            .setCompression(compression)
            .setRetryPolicy(null)
            .addHeader("Authorization", "Bearer token-7")
            .build()
        : OtlpHttpSpanExporter.builder()
            .setEndpoint(receiver.httpTracesEndpoint())
            .setCompression(compression)
            .setRetryPolicy(null)
            .addHeader("Authorization", "Bearer token-7")
            .build();
  }

  private boolean export(String protocol, String compression) {
    try (SpanExporter exporter = exporter(protocol, compression)) {
      CompletableResultCode result = exporter.export(spans).join(20, TimeUnit.SECONDS);
      assertThat(result.isDone()).as("the exporter got an answer").isTrue();
      return result.isSuccess();
    }
  }

  @ParameterizedTest
  @CsvSource({"grpc,none", "grpc,gzip", "http,none", "http,gzip"})
  void spans_arriveAsRecordedByTheSdk(String protocol, String compression) {
    assertThat(export(protocol, compression)).isTrue();

    assertThat(receiver.awaitSpans(2, SOON)).isEqualTo(SpanRecord.of(spans));
    assertThat(receiver.spans()).hasSize(2);
    assertThat(receiver.protocols()).containsExactly(protocol);
    assertThat(receiver.requestCount()).isEqualTo(1);
    assertThat(receiver.requestHeaders()).hasSize(1);
    assertThat(receiver.requestHeaders().get(0)).containsEntry("authorization", "Bearer token-7");
    assertThat(receiver.rawBodies()).hasSize(1);
    assertThat(new String(receiver.rawBodies().get(0), UTF_8)).contains("it broke");
  }

  @Test
  void compression_isUsed() {
    export("grpc", "gzip");
    export("http", "gzip");
    assertThat(receiver.requestHeaders().get(0)).containsEntry("grpc-encoding", "gzip");
    assertThat(receiver.requestHeaders().get(1)).containsEntry("content-encoding", "gzip");
  }

  @Test
  void bothProtocols_shareOnePort() {
    assertThat(export("grpc", "none")).isTrue();
    assertThat(export("http", "none")).isTrue();
    assertThat(receiver.protocols()).containsExactly("grpc", "http");
    assertThat(receiver.awaitSpans(4, SOON)).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource({"grpc,REJECT", "grpc,REFUSE", "http,REJECT", "http,REFUSE"})
  void rejection_reachesTheExporter_andItsBytesAreRecorded(String protocol, Behaviour behaviour) {
    receiver.behave(behaviour);
    assertThat(export(protocol, "gzip")).isFalse();
    assertThat(receiver.spans()).isEmpty();
    assertThat(receiver.requestCount()).isEqualTo(1);
    assertThat(new String(receiver.rawBodies().get(0), UTF_8)).contains("it broke");

    receiver.behave(Behaviour.ACCEPT);
    assertThat(export(protocol, "gzip")).isTrue();
    assertThat(receiver.spans()).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http"})
  void rejectedSpans_areRetriedByTheExporter(String protocol) {
    receiver.behave(Behaviour.REJECT);
    try (SpanExporter exporter =
        protocol.equals("grpc")
            ? OtlpGrpcSpanExporter.builder().setEndpoint(receiver.endpoint()).build()
            : OtlpHttpSpanExporter.builder().setEndpoint(receiver.httpTracesEndpoint()).build()) {
      CompletableResultCode result = exporter.export(spans);
      receiver.awaitRequests(1, SOON);
      receiver.behave(Behaviour.ACCEPT);
      assertThat(result.join(20, TimeUnit.SECONDS).isSuccess()).isTrue();
    }
    assertThat(receiver.requestCount()).isGreaterThanOrEqualTo(2);
    assertThat(receiver.spans()).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http"})
  void unansweredCall_endsWhenTheReceiverCloses(String protocol) {
    receiver.behave(Behaviour.NEVER_ANSWER);
    try (SpanExporter exporter = exporter(protocol, "none")) {
      CompletableResultCode result = exporter.export(spans);
      receiver.awaitRequests(1, SOON);
      assertThat(receiver.rawBodies()).hasSize(1);
      assertThat(result.isDone()).isFalse();
      receiver.close();
      assertThat(result.join(20, TimeUnit.SECONDS).isDone()).isTrue();
      assertThat(result.isSuccess()).isFalse();
    }
    assertThat(receiver.spans()).isEmpty();
  }

  @Test
  void closing_endsAllPendingCalls() {
    // Without an explicit close, a connection outlived its server about once in ten rounds.
    for (int i = 0; i < 100; i++) {
      OtlpReceiver silent = OtlpReceiver.builder().behaviour(Behaviour.NEVER_ANSWER).start();
      try (SpanExporter exporter =
          OtlpGrpcSpanExporter.builder()
              .setEndpoint(silent.endpoint())
              .setRetryPolicy(null)
              .setTimeout(Duration.ofMinutes(5))
              .build()) {
        CompletableResultCode result = exporter.export(spans);
        silent.awaitRequests(1, SOON);
        silent.close();
        assertThat(result.join(10, TimeUnit.SECONDS).isDone()).as("round %s", i).isTrue();
      }
    }
  }

  @Test
  void behaviour_canBeSetInitially() {
    try (OtlpReceiver refusing = OtlpReceiver.builder().behaviour(Behaviour.REFUSE).start();
        SpanExporter exporter =
            OtlpGrpcSpanExporter.builder().setEndpoint(refusing.endpoint()).build()) {
      assertThat(exporter.export(spans).join(20, TimeUnit.SECONDS).isSuccess()).isFalse();
      assertThat(refusing.requestCount()).as("nothing is sent again").isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"grpc", "http"})
  void hundredThousandSpans_arriveInOrder(String protocol) {
    List<SpanData> many = SdkSpans.many(100_000);
    try (SpanExporter exporter = exporter(protocol, "none")) {
      for (int i = 0; i < many.size(); i += 1000) {
        CompletableResultCode result = exporter.export(many.subList(i, i + 1000));
        assertThat(result.join(20, TimeUnit.SECONDS).isSuccess()).isTrue();
      }
    }
    List<SpanRecord> received = receiver.awaitSpans(100_000, SOON);
    assertThat(received).hasSize(100_000);
    assertThat(received.get(99_999).name()).isEqualTo("span-99999");
    assertThat(received.get(99_999).attribute("index")).isEqualTo(99_999L);
    assertThat(receiver.rawBodies()).hasSize(100);
  }

  @Test
  void oneTrace_canBeAwaited() {
    export("grpc", "none");
    String traceId = spans.get(0).getTraceId();
    assertThat(receiver.awaitTrace(traceId, 2, SOON)).hasSize(2);
    assertThatThrownBy(() -> receiver.awaitTrace("0".repeat(32), 1, Duration.ofMillis(10)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("expected 1 spans of trace 000")
        .hasMessageContaining("but 0 arrived");
  }

  @Test
  void timeout_reportsWhatArrived() {
    export("grpc", "none");
    receiver.behave(Behaviour.REJECT);
    export("http", "none");
    assertThatThrownBy(() -> receiver.awaitSpans(3, Duration.ofMillis(10)))
        .isInstanceOf(AssertionError.class)
        .hasMessage(
            "expected 3 spans within 10 ms, but 2 arrived: [child, parent]; "
                + "the receiver got 2 export calls [grpc, http], "
                + "requests not accepted: 1 (the test set the behaviour REJECT)");
    assertThatThrownBy(() -> receiver.awaitRequests(3, Duration.ofMillis(10)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("expected 3 export calls within 10 ms")
        .hasMessageContaining("got 2 export calls");
  }

  @Test
  void clear_removesEverything() {
    export("grpc", "none");
    receiver.clear();
    assertThat(receiver.spans()).isEmpty();
    assertThat(receiver.requestCount()).isZero();
    assertThat(receiver.requestHeaders()).isEmpty();
    assertThat(receiver.rawBodies()).isEmpty();
    assertThat(receiver.protocols()).isEmpty();
    assertThat(export("grpc", "none")).isTrue();
    assertThat(receiver.awaitSpans(2, SOON)).hasSize(2);
  }

  @Test
  void closedReceiver_keepsItsSpans_andCanBeClosedAgain() {
    export("grpc", "none");
    receiver.close();
    receiver.close();
    assertThat(receiver.spans()).hasSize(2);
  }

  @Test
  void occupiedPort_isReported() {
    assertThatThrownBy(() -> OtlpReceiver.builder().port(receiver.port()).start())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot listen on 127.0.0.1:" + receiver.port());
    assertThatThrownBy(() -> OtlpReceiver.builder().port(70_000))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void freedPort_canBeUsedAgain() {
    int port = receiver.port();
    receiver.close();
    try (OtlpReceiver second = OtlpReceiver.builder().port(port).start()) {
      assertThat(second.endpoint()).isEqualTo("http://localhost:" + port);
    }
  }
}
