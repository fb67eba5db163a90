package io.inferspan.pd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.pd.net.Loops;
import io.inferspan.pd.server.HttpListener;
import io.inferspan.pd.telemetry.Api;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.telemetry.Stage;
import io.micrometer.core.instrument.Gauge;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests scrapes over a socket. */
class MetricsServerTest {

  private static final String OPEN_METRICS = "application/openmetrics-text;version=1.0.0";
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final SpanContext SAMPLED =
      SpanContext.create(TRACE, SPAN, TraceFlags.getSampled(), TraceState.getDefault());
  private static final SpanContext UNSAMPLED =
      SpanContext.create(TRACE, SPAN, TraceFlags.getDefault(), TraceState.getDefault());

  private final Loops loops = Loops.start("nio", 1);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Telemetry telemetry =
      Telemetry.initTracing(
          TelemetryOptions.builder().setting("otel.traces.exporter", "none").build());
  private final SidecarMetrics metrics = SidecarMetrics.create(telemetry);
  private final HttpListener server = MetricsServer.start(loops, metrics, 0);

  MetricsServerTest() throws IOException {}

  @AfterEach
  void stop() {
    server.close();
    loops.close();
    metrics.close();
    telemetry.close();
    http.close();
  }

  private HttpResponse<byte[]> call(String method, String path, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), BodyHandlers.ofByteArray());
  }

  private String scrape(String... headers) throws Exception {
    return new String(call("GET", "/metrics", headers).body(), StandardCharsets.UTF_8);
  }

  private static List<String> samples(String text, String prefix) {
    return text.lines().filter(line -> line.startsWith(prefix)).toList();
  }

  @Test
  void requests_areCountedByApi() throws Exception {
    metrics.requestArrived(Api.CHAT_COMPLETIONS, SpanContext.getInvalid());
    metrics.requestArrived(Api.CHAT_COMPLETIONS, SAMPLED);
    metrics.requestArrived(Api.PASSTHROUGH, SpanContext.getInvalid());

    assertThat(samples(scrape(), "llm_d_disagg_sidecar_requests_total"))
        .containsExactlyInAnyOrder(
            "llm_d_disagg_sidecar_requests_total{api_type=\"chat_completions\"} 2.0",
            "llm_d_disagg_sidecar_requests_total{api_type=\"responses\"} 0.0",
            "llm_d_disagg_sidecar_requests_total{api_type=\"generate\"} 0.0",
            "llm_d_disagg_sidecar_requests_total{api_type=\"passthrough\"} 1.0");
  }

  @Test
  void disaggregationAndErrors_areCountedByTheirKind() throws Exception {
    metrics.disaggregated("shared-storage", UNSAMPLED);
    metrics.stageFailed(Stage.PREFILL, UNSAMPLED);
    String text = scrape();

    assertThat(samples(text, "llm_d_disagg_sidecar_disagg_requests_total"))
        .hasSize(6)
        .contains(
            "llm_d_disagg_sidecar_disagg_requests_total{disagg_type=\"shared-storage\"} 1.0",
            "llm_d_disagg_sidecar_disagg_requests_total{disagg_type=\"encode\"} 0.0");
    assertThat(samples(text, "llm_d_disagg_sidecar_request_errors_total"))
        .containsExactlyInAnyOrder(
            "llm_d_disagg_sidecar_request_errors_total{stage=\"prefill\"} 1.0",
            "llm_d_disagg_sidecar_request_errors_total{stage=\"decode\"} 0.0",
            "llm_d_disagg_sidecar_request_errors_total{stage=\"encode\"} 0.0",
            "llm_d_disagg_sidecar_request_errors_total{stage=\"request\"} 0.0");
  }

  @Test
  void durations_areHistogramsInSeconds() throws Exception {
    metrics.stageEnded(Stage.PREFILL, TimeUnit.MILLISECONDS.toNanos(80), UNSAMPLED);
    metrics.stageEnded(Stage.ENCODE, 1, UNSAMPLED);
    metrics.stageEnded(Stage.DECODE, TimeUnit.SECONDS.toNanos(30), UNSAMPLED);
    metrics.stageEnded(Stage.REQUEST, TimeUnit.SECONDS.toNanos(31), UNSAMPLED);
    metrics.firstToken(TimeUnit.MILLISECONDS.toNanos(90), UNSAMPLED);

    assertThat(scrape().lines().toList())
        .contains(
            "llm_d_disagg_sidecar_prefill_duration_seconds_bucket{le=\"0.075\"} 0",
            "llm_d_disagg_sidecar_prefill_duration_seconds_bucket{le=\"0.1\"} 1",
            "llm_d_disagg_sidecar_prefill_duration_seconds_sum 0.08",
            "llm_d_disagg_sidecar_encode_duration_seconds_bucket{le=\"0.005\"} 1",
            "llm_d_disagg_sidecar_decode_duration_seconds_bucket{le=\"20.0\"} 0",
            "llm_d_disagg_sidecar_decode_duration_seconds_bucket{le=\"40.0\"} 1",
            "llm_d_disagg_sidecar_decode_duration_seconds_count 1",
            "inferspan_pd_request_duration_seconds_bucket{le=\"+Inf\"} 1",
            "inferspan_pd_time_to_first_token_seconds_bucket{le=\"0.1\"} 1");
  }

  @Test
  void gaugesOfTheProxy_areServed() throws Exception {
    metrics.requestEntered();
    metrics.requestEntered();
    metrics.requestLeft();
    metrics.denied();
    metrics.bodyTooLarge();
    ConnectionMeters prefill = metrics.connections(Stage.PREFILL);
    prefill.opened();
    prefill.opened();
    prefill.idle(1);
    prefill.closed();

    assertThat(scrape().lines().toList())
        .contains(
            "inferspan_pd_requests_in_flight 1.0",
            "inferspan_pd_allow_list_denials_total 1.0",
            "inferspan_pd_request_body_too_large_total 1.0",
            "inferspan_pd_upstream_connections_open{stage=\"prefill\"} 1.0",
            "inferspan_pd_upstream_connections_idle{stage=\"prefill\"} 1.0",
            "inferspan_pd_upstream_connects_total{stage=\"prefill\"} 2.0",
            "inferspan_pd_upstream_connects_total{stage=\"decode\"} 0.0");
  }

  @Test
  void metricsOfTracingAndJvm_areServed() throws Exception {
    String text = scrape();

    for (String name :
        List.of(
            "inferspan_spans_dropped_total{reason=\"queue_full\"}",
            "jvm_memory_used_bytes",
            "jvm_gc_",
            "jvm_threads_live_threads",
            "process_cpu_usage",
            "process_uptime_seconds",
            "process_files_open_files")) {
      assertThat(samples(text, name)).as(name).isNotEmpty();
    }
  }

  @Test
  void labels_areFromAClosedSet() throws Exception {
    Set<String> labels = new TreeSet<>();
    scrape()
        .lines()
        .filter(line -> line.startsWith("llm_d_") || line.startsWith("inferspan_pd_"))
        .filter(line -> line.contains("{"))
        .forEach(line -> labels.add(line.substring(line.indexOf('{') + 1, line.indexOf('='))));

    assertThat(labels).containsExactly("api_type", "disagg_type", "le", "stage");
  }

  @Test
  void sampledObservations_haveExemplarsInOpenMetrics() throws Exception {
    metrics.requestArrived(Api.CHAT_COMPLETIONS, SAMPLED);
    metrics.stageEnded(Stage.PREFILL, TimeUnit.MILLISECONDS.toNanos(80), SAMPLED);
    metrics.firstToken(TimeUnit.MILLISECONDS.toNanos(90), SAMPLED);
    String ids = "# {span_id=\"" + SPAN + "\",trace_id=\"" + TRACE + "\"}";
    String text = scrape("Accept", OPEN_METRICS);

    assertThat(text).endsWith("# EOF\n");
    for (String name :
        List.of(
            "llm_d_disagg_sidecar_requests_total{api_type=\"chat_completions\"}",
            "llm_d_disagg_sidecar_prefill_duration_seconds_bucket{le=\"0.1\"}",
            "inferspan_pd_time_to_first_token_seconds_bucket{le=\"0.1\"}")) {
      assertThat(samples(text, name)).singleElement().asString().contains(ids);
    }
    assertThat(scrape()).doesNotContain(TRACE);
  }

  @Test
  void unsampledObservations_haveNoExemplar_alsoAfterSampledOnes() throws Exception {
    metrics.requestArrived(Api.CHAT_COMPLETIONS, SAMPLED);
    metrics.requestArrived(Api.RESPONSES, UNSAMPLED);
    metrics.requestArrived(Api.GENERATE, SpanContext.getInvalid());
    metrics.stageEnded(Stage.PREFILL, 1, UNSAMPLED);
    String text = scrape("Accept", OPEN_METRICS);

    assertThat(text.lines().filter(line -> line.contains("trace_id"))).hasSize(1);
  }

  @Test
  void format_isTheOneThatTheScraperPrefers() throws Exception {
    assertThat(type()).startsWith("text/plain; version=0.0.4");
    assertThat(type("Accept", "*/*")).startsWith("text/plain");
    assertThat(type("Accept", OPEN_METRICS)).startsWith("application/openmetrics-text");
    assertThat(type("Accept", OPEN_METRICS + ";q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"))
        .startsWith("application/openmetrics-text");
    assertThat(type("Accept", "application/openmetrics-text;q=0.1,text/plain"))
        .startsWith("text/plain");
    assertThat(type("Accept", "application/openmetrics-text;q=0")).startsWith("text/plain");
  }

  private String type(String... headers) throws Exception {
    return call("GET", "/metrics", headers).headers().firstValue("content-type").orElse("none");
  }

  @Test
  void gzip_isUsedIfAccepted() throws Exception {
    metrics.requestArrived(Api.GENERATE, SpanContext.getInvalid());
    HttpResponse<byte[]> response = call("GET", "/metrics", "Accept-Encoding", "deflate, gzip");

    assertThat(response.headers().firstValue("content-encoding")).hasValue("gzip");
    try (GZIPInputStream plain = new GZIPInputStream(new ByteArrayInputStream(response.body()))) {
      assertThat(new String(plain.readAllBytes(), StandardCharsets.UTF_8))
          .contains("llm_d_disagg_sidecar_requests_total{api_type=\"generate\"} 1.0");
    }
    assertThat(call("GET", "/metrics", "Accept-Encoding", "gzip;q=0").headers().map())
        .doesNotContainKey("content-encoding");
  }

  @Test
  void scrape_runsOnAWorkerThread() throws Exception {
    AtomicReference<String> thread = new AtomicReference<>("");
    Gauge.builder(
            "probe",
            () -> {
              thread.set(Thread.currentThread().getName());
              return 1;
            })
        .register(metrics.registry());
    scrape();

    assertThat(thread.get()).startsWith("vert.x-worker");
  }

  @Test
  void otherPaths_areNotFound_exceptHealth() throws Exception {
    assertThat(call("GET", "/health").statusCode()).isEqualTo(200);
    assertThat(call("HEAD", "/health").statusCode()).isEqualTo(200);
    assertThat(call("HEAD", "/metrics").statusCode()).isEqualTo(200);
    assertThat(call("GET", "/").statusCode()).isEqualTo(404);
    assertThat(call("GET", "/metrics/x").statusCode()).isEqualTo(404);
    assertThat(call("POST", "/metrics").statusCode()).isEqualTo(405);
  }

  @Test
  void portInUse_isAnError() {
    assertThatIOException()
        .isThrownBy(() -> MetricsServer.start(loops, metrics, server.port()))
        .withMessageContaining("cannot listen on port " + server.port());
  }

  /** Prints the cost of recording; the limit is generous and detects only gross mistakes. */
  @Test
  void recordingCost_isBelowALimit() {
    int warmUp = 200_000;
    int times = 1_000_000;
    for (SpanContext span : List.of(UNSAMPLED, SAMPLED)) {
      countAndTime(warmUp, span);
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) {
        metrics.requestArrived(Api.CHAT_COMPLETIONS, span);
      }
      double counter = (double) (System.nanoTime() - start) / times;
      start = System.nanoTime();
      for (int i = 0; i < times; i++) {
        metrics.stageEnded(Stage.PREFILL, i, span);
      }
      double histogram = (double) (System.nanoTime() - start) / times;
      System.out.printf(
          "sampled=%s: counter %.1f ns, histogram %.1f ns%n", span.isSampled(), counter, histogram);
      assertThat(counter + histogram).isLessThan(5_000);
    }
  }

  private void countAndTime(int times, SpanContext span) {
    for (int i = 0; i < times; i++) {
      metrics.requestArrived(Api.CHAT_COMPLETIONS, span);
      metrics.stageEnded(Stage.PREFILL, i, span);
    }
  }
}
