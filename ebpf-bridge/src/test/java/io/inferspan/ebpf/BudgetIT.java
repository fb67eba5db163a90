package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Detail levels under a budget while the load changes. */
class BudgetIT {

  private static final String TRACEPARENT =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static final int UNLIMITED_RATE = 0;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private EbpfBridge bridge;
  private JavaChild keeper;

  @BeforeEach
  void keepLibraries() {
    String load = TestKit.directory().resolve("load").toString();
    bridge = attached("3000/s");
    keeper = JavaChild.start(List.of(load, "120", "1", "", "10"), Map.of());
  }

  private EbpfBridge attached(String budget) {
    // Observes every process: a load begins its request before its pid could be selected.
    return EbpfBridge.attach(
        Telemetry.using(tracing.openTelemetry()),
        BridgeConfig.builder().ownThreads(false).budget(TracingBudget.parse(budget)).build());
  }

  private void awaitLibraries() {
    TestKit.awaitLibrary(bridge, "libcuda.so.1");
    TestKit.awaitLibrary(bridge, "load");
  }

  @AfterEach
  void detach() {
    keeper.close();
    bridge.close();
  }

  @Test
  void tenfoldLoad_detailIsLoweredAndRestoredAndNoCallIsMissing() throws Exception {
    awaitLibraries();
    long calls = calls(load(2, 1_000));
    assertThat(bridge.status().detail()).allMatch(detail -> detail.level().equals("full"));

    Process tenfold = load(4, 10_000);
    TestKit.await("less detail", () -> !level("launches").equals("full"));
    calls += calls(tenfold);
    TestKit.await("full detail", () -> level("launches").equals("full"));
    calls += calls(load(1, 1_000));
    long shed = shed("launches");
    bridge.close();

    assertThat(launched()).isEqualTo(calls);
    assertThat(shed).isBetween(1L, calls);
    assertThat(bridge.status().losses()).containsEntry("kernel.ring_full", 0L);
    assertThat(launches().map(BudgetIT::level)).anyMatch(level -> level.contains("launches:"));
    assertThat(launches().map(span -> span.attribute("inferspan.ebpf.coverage")))
        .as("nothing was detached")
        .containsOnlyNulls();
  }

  /**
   * The traps alone exceed the budget, so the probes are detached, and attached again after the
   * load.
   */
  @Test
  void trapsExceedTheBudget_probesAreDetachedAndCoverageIsBelowOne() throws Exception {
    bridge.close();
    bridge = attached("5%");
    awaitLibraries();
    Process flood = load(5, UNLIMITED_RATE);
    TestKit.await("detaching", () -> level("launches").equals("detached"));
    long calls = calls(flood);
    TestKit.await("full detail", () -> level("launches").equals("full"));
    bridge.close();

    assertThat(launched()).isLessThan(calls);
    assertThat(launches())
        .anySatisfy(
            span -> {
              assertThat(level(span)).contains("launches:detached");
              assertThat((Double) span.attribute("inferspan.ebpf.coverage")).isLessThan(1);
            });
  }

  /** Every system call of the machine has a cost, even if no request is traced. */
  @Test
  void recognitionExceedsTheBudget_itIsDetachedAndRestored() throws Exception {
    bridge.close();
    bridge = attached("5%");
    awaitLibraries();
    Process request = load(60, 1_000);
    TestKit.await("launches", () -> read("cuda.launch") > 0);
    Process flood = reads();
    TestKit.await("no recognition", () -> level("requests").equals("detached"));
    TestKit.await("the request's end", () -> requestsEnded() >= 1);
    request.destroy();
    flood.destroy();
    TestKit.await("recognition", () -> level("requests").equals("full"));
    TestKit.await("full detail", () -> level("launches").equals("full"));
    assertThat(launches().map(BudgetIT::level)).anyMatch(level -> level.contains("requests:"));
    long before = launched();
    long calls = calls(load(1, 1_000));
    bridge.close();

    assertThat(launched() - before).isEqualTo(calls);
  }

  /** Starts a process that reads without a request, as fast as it can. */
  private static Process reads() throws IOException {
    String load = TestKit.directory().resolve("load").toString();
    return new ProcessBuilder(load, "60", "1", "", "0", "read").start();
  }

  private long requestsEnded() {
    return bridge.status().contexts().getOrDefault("requests_ended", 0L);
  }

  private long read(String kind) {
    return bridge.status().events().stream()
        .filter(events -> events.kind().equals(kind))
        .mapToLong(BridgeStatus.Events::read)
        .sum();
  }

  private String level(String events) {
    return detail(events).level();
  }

  private long shed(String events) {
    return detail(events).shed();
  }

  private BridgeStatus.Detail detail(String events) {
    return bridge.status().detail().stream()
        .filter(detail -> detail.events().equals(events))
        .findFirst()
        .orElseThrow();
  }

  private static Process load(int seconds, int perSecond) throws IOException {
    String load = TestKit.directory().resolve("load").toString();
    return new ProcessBuilder(
            load, Integer.toString(seconds), "1", TRACEPARENT, Integer.toString(perSecond))
        .start();
  }

  /** Waits for the end of a load, and returns the number of calls that it made. */
  private static long calls(Process load) throws Exception {
    String said = new String(load.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(load.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return Long.parseLong(said.substring(0, said.indexOf(' ')));
  }

  private Stream<SpanRecord> launches() {
    return tracing.spans().stream().filter(span -> span.name().startsWith("cuda.launch"));
  }

  private long launched() {
    return launches().mapToLong(span -> number(span, "inferspan.ebpf.count", 1)).sum();
  }

  private static String level(SpanRecord span) {
    return span.attribute("inferspan.ebpf.level") instanceof String level ? level : "";
  }

  private static long number(SpanRecord span, String attribute, long otherwise) {
    return span.attribute(attribute) instanceof Long value ? value : otherwise;
  }
}
