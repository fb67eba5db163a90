package io.inferspan.samples.deploy;

import static io.inferspan.testing.SpanTreeAssert.assertThatSpans;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.events.KvEventMeters;
import io.inferspan.kvcache.events.KvEventOptions;
import io.inferspan.kvcache.events.KvEventSubscriber;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.metrics.KvCacheMeters;
import io.inferspan.samples.deploy.Dashboard.Query;
import io.inferspan.testing.SpanRecord;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Runs the manifests' programs, and checks the dashboard's queries against their metrics. */
class LiveStackIT {

  private static LiveStack stack;
  private static List<SpanRecord> trace;

  @BeforeAll
  static void sendARequest() throws Exception {
    stack = new LiveStack();
    assertThat(stack.ask().body()).contains("data: [DONE]");
    trace = awaitRoots();
  }

  /** Waits for the root span of each process, which is the last one that the process exports. */
  private static List<SpanRecord> awaitRoots() {
    List<SpanRecord> spans = List.of();
    while (!names(spans).containsAll(List.of("gateway.request", "llm_d.pd_proxy.request"))) {
      spans =
          stack.collector().awaitTrace(LiveStack.TRACE, spans.size() + 1, Duration.ofSeconds(10));
    }
    return spans;
  }

  private static List<String> names(List<SpanRecord> spans) {
    return spans.stream().map(SpanRecord::name).toList();
  }

  @AfterAll
  static void stop() throws Exception {
    if (stack != null) {
      stack.close();
    }
  }

  @Test
  void request_isOneTraceThroughGatewayAndSidecar() {
    assertThatSpans(trace).isOneTrace();
    assertThat(names(trace))
        .contains(
            "gateway.request",
            "llm_d.pd_proxy.request",
            "llm_d.pd_proxy.prefill",
            "llm_d.pd_proxy.decode");
    assertThat(trace)
        .extracting(SpanRecord::serviceName)
        .containsOnly("llm-gateway", "llm-d-pd-proxy");
    assertThat(stack.prefill().requestCount()).isOne();
  }

  @Test
  void queries_ofGatewayAndSidecar_findTheirMetrics() throws Exception {
    Scrape scrape = Scrape.of(stack.scrape("gateway"), stack.scrape("sidecar"));

    assertFound(
        name -> !name.startsWith("inferspan_kvcache") && !name.startsWith("inferspan_ebpf"),
        scrape);
  }

  @Test
  void queries_ofTheIndex_findTheirMetrics() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    KvCacheMeters meters = KvCacheMeters.in(registry);
    MemoryBlockIndex memory = MemoryBlockIndex.withDefaults();
    BlockIndex index = meters.size(memory, "memory").metered(memory, "memory");
    try (KvEventSubscriber subscriber =
        KvEventSubscriber.start(index, BlockKeys.withDefaults(), KvEventOptions.withDefaults())) {
      KvEventMeters.register(registry, subscriber);

      assertFound(name -> name.startsWith("inferspan_kvcache"), Scrape.of(registry.scrape()));
    }
  }

  @Test
  void queries_ofTheBridge_findTheirMetrics() {
    Telemetry telemetry = Telemetry.using(OpenTelemetry.noop());
    try (EbpfBridge bridge = EbpfBridge.attach(telemetry, BridgeConfig.defaults())) {
      assumeTrue(
          bridge.support() instanceof EbpfSupport.Available,
          () -> "kernel events cannot be seen here: " + bridge.support());
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      bridge.bindTo(registry);

      assertFound(name -> name.startsWith("inferspan_ebpf"), Scrape.of(registry.scrape()));
    }
  }

  private static void assertFound(Predicate<String> family, Scrape scrape) {
    List<Query> queries = queries(family);
    assertThat(queries).isNotEmpty();
    for (Query query : queries) {
      for (String metric : query.metrics()) {
        assertThat(scrape.labelsByName()).as(query.panel()).containsKey(metric);
        assertThat(scrape.labelsByName().get(metric))
            .as("%s: labels of %s", query.panel(), metric)
            .containsAll(query.labels());
      }
    }
  }

  private static List<Query> queries(Predicate<String> family) {
    try {
      return Dashboard.queries().stream()
          .filter(query -> query.metrics().stream().anyMatch(family))
          .toList();
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
