package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Probes are detached while no request is sampled, and attached again for one that is. */
class SleepIT {

  private static final Duration AT_ONCE = Duration.ofMillis(1);
  private static final int CALLS = 8;

  /** Links of the scheduler and of connections, and one for each of two libraries. */
  private static final int MIN_LINKS_OFF = 7;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final List<AutoCloseable> opened = new ArrayList<>();

  @BeforeEach
  void needsBpf() {
    TestObjects.assumeBpf();
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void noSampledRequest_probesForSampledRequestsAreDetached() throws IOException {
    server(Map.of());
    EbpfBridge awake = bridge(Duration.ZERO);
    int all = links();
    assertThat(awake.status().sleep()).isEqualTo(new BridgeStatus.Sleep(false, 0));
    awake.close();
    assertThat(links()).isZero();

    EbpfBridge bridge = bridge(AT_ONCE);
    awaitSleep(bridge);

    TestKit.await("links to be gone", () -> all - linksNow() >= MIN_LINKS_OFF);
    assertThat(links()).as("the probes that detect a request's start").isGreaterThanOrEqualTo(5);
    assertThat(bridge.status().programs()).allMatch(BridgeStatus.Program::attached);
  }

  @Test
  void wakingRequest_isIncompleteAndTheNextIsComplete() throws Exception {
    PythonServer server = server(Map.of("FAKE_CUDA_KERNEL", "300ms"));
    EbpfBridge bridge = bridge(Duration.ofSeconds(2));
    awaitSleep(bridge);

    Requests.sendOne(server, 1);
    assertThat(isAsleep(bridge)).isFalse();
    Requests.sendOne(server, 2);
    assertThat(bridge.status().sleep()).isEqualTo(new BridgeStatus.Sleep(false, 1));
    bridge.close();

    assertThat(calls(1)).isBetween(1L, CALLS - 1L);
    assertThat(spans(1))
        .allSatisfy(
            span ->
                assertThat((Double) span.attribute("inferspan.ebpf.coverage"))
                    .isBetween(0.5, 0.999))
        .allSatisfy(span -> assertThat(span.attribute("inferspan.ebpf.dropped")).isNull());
    assertThat(calls(2)).isEqualTo(CALLS);
    assertThat(spans(2)).allSatisfy(SleepIT::isWhole);
    assertThat(families(2)).contains("cuda", "syscall", "sched");
    assertAccountedFor(bridge.status());
  }

  @Test
  void unsampledRequests_doNotWake() throws Exception {
    PythonServer server = server(Map.of());
    EbpfBridge bridge = bridge(AT_ONCE);
    awaitSleep(bridge);

    Requests.sendUnsampled(server, 50);

    TestKit.await("the heads of requests", () -> context(bridge, "http_found") >= 50);
    assertThat(bridge.status().sleep()).isEqualTo(new BridgeStatus.Sleep(true, 1));
    assertThat(context(bridge, "requests_began")).isZero();
    assertThat(tracing.spans()).isEmpty();
  }

  /** The bridge that is awake reads all events, whether or not the other one sleeps. */
  @Test
  void twoBridges_sleepIndependently() throws Exception {
    PythonServer server = server(Map.of());
    EbpfBridge awake = bridge(Duration.ZERO);
    EbpfBridge sleeping = bridge(AT_ONCE);
    awaitSleep(sleeping);

    Requests.sendOne(server, 1);
    TestKit.await("waking", () -> !isAsleep(sleeping) || sleeping.status().sleep().times() > 1);
    Requests.sendOne(server, 2);
    awaitSleep(sleeping);
    Requests.sendOne(server, 3);

    TestKit.await("CUDA events", () -> cudaCalls(awake) >= 3 * CALLS);
    assertThat(cudaCalls(awake)).isEqualTo(3 * CALLS);
    assertThat(awake.status().sleep().times()).isZero();
    assertThat(cudaCalls(sleeping)).isLessThanOrEqualTo(3 * CALLS);
  }

  @Test
  void ownThread_wakesWithASampledContextOnly() {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        JavaChild child = sleeping(receiver)) {
      assertThat(child.line()).isEqualTo("asleep");
      assertThat(child.line()).isEqualTo("unsampled true 1");
      assertThat(child.line()).isEqualTo("woken");
      assertThat(child.line()).isEqualTo("asleep again");
      child.finish();

      assertThat(receiver.spans()).isNotEmpty();
      assertThat(receiver.spans())
          .allSatisfy(span -> assertThat(span.traceId()).isEqualTo(SleepingProcess.TRACE))
          .allSatisfy(span -> assertThat(span.attribute("inferspan.ebpf.coverage")).isNotNull());
    }
  }

  @Test
  void killedWhileAsleep_leavesNothingAttached() throws IOException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        JavaChild child = sleeping(receiver)) {
      assertThat(child.line()).isEqualTo("asleep");
      KernelObjects held = KernelObjects.of(child.pid());
      assertThat(held.links()).hasSizeGreaterThanOrEqualTo(5);
      assertThat(held.alive()).isNotEmpty();

      child.kill();

      TestKit.await("the kernel to free all objects", () -> held.alive().isEmpty());
    }
  }

  private static JavaChild sleeping(OtlpReceiver receiver) {
    return JavaChild.start(
        SleepingProcess.class,
        Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint(), "INFERSPAN_EBPF", "off"));
  }

  private PythonServer server(Map<String, String> environment) {
    PythonServer server = PythonServer.start(environment);
    opened.add(server);
    return server;
  }

  private EbpfBridge bridge(Duration sleepAfter) {
    EbpfBridge bridge =
        EbpfBridge.attach(
            Telemetry.using(tracing.openTelemetry()),
            TestKit.children().sleepAfter(sleepAfter).build());
    opened.add(bridge);
    TestKit.awaitLibrary(bridge, "libcuda.so.1");
    TestKit.awaitLibrary(bridge, "libcudart.so");
    return bridge;
  }

  private static boolean isAsleep(EbpfBridge bridge) {
    return bridge.status().sleep().asleep();
  }

  private static void awaitSleep(EbpfBridge bridge) {
    TestKit.await("sleep", () -> isAsleep(bridge));
  }

  private static int links() throws IOException {
    return KernelObjects.of(ProcessHandle.current().pid()).links().size();
  }

  private static int linksNow() {
    try {
      return links();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<SpanRecord> spans(int number) {
    String trace = "%032x".formatted(number);
    return tracing.spans().stream().filter(span -> span.traceId().equals(trace)).toList();
  }

  private List<String> families(int number) {
    return spans(number).stream().map(span -> span.name().split("\\.", 2)[0]).distinct().toList();
  }

  private long calls(int number) {
    return spans(number).stream()
        .filter(span -> span.name().startsWith("cuda."))
        .mapToLong(span -> span.attribute("inferspan.ebpf.count") instanceof Long many ? many : 1)
        .sum();
  }

  private static void isWhole(SpanRecord span) {
    assertThat(span.attributes())
        .doesNotContainKeys("inferspan.ebpf.coverage", "inferspan.ebpf.dropped");
  }

  private static long context(EbpfBridge bridge, String what) {
    return bridge.status().contexts().getOrDefault(what, 0L);
  }

  private static long cudaCalls(EbpfBridge bridge) {
    return bridge.status().events().stream()
        .filter(events -> events.kind().startsWith("cuda."))
        .mapToLong(BridgeStatus.Events::read)
        .sum();
  }

  private static void assertAccountedFor(BridgeStatus status) {
    long produced = status.events().stream().mapToLong(BridgeStatus.Events::produced).sum();
    long read = status.events().stream().mapToLong(BridgeStatus.Events::read).sum();
    BridgeStatus.Spans spans = status.flow().spans();
    assertThat(status.lost()).isZero();
    assertThat(read).isEqualTo(produced);
    assertThat(spans.emitted() + spans.folded() + spans.control()).isEqualTo(read);
  }
}
