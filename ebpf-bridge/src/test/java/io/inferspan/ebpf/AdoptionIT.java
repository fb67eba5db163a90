package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.catalog.SpanCatalog;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The work of an adopted process and of its children is attributed to the span while it is adopted,
 * and not before or after.
 */
class AdoptionIT {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final String PARENT = "00-" + TRACE + "-" + SPAN;
  private static final String REPORTED_TRACE = "1".repeat(32);
  private static final String HTTP_TRACE = "3".repeat(32);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void processTree_belongsToTheSpanUntilItIsReleased() {
    try (EbpfBridge bridge = bridge();
        JavaChild tree = tree(bridge)) {
      say(tree, "50");
      try (Adoption adoption = bridge.adopt((int) tree.pid(), PARENT + "-01")) {
        assertThat(adoption.isActive()).isTrue();
        say(tree, "tree");
        say(tree, "helper 60"); // it started before the adoption
      }
      say(tree, "70");
      say(tree, "helper 80");
      tree.finish();
    }

    assertThat(launches(TRACE)).isEqualTo(6);
    assertThat(launches(REPORTED_TRACE)).isOne();
    assertThat(launches(HTTP_TRACE)).isOne();
    assertThat(tracing.spans()).allMatch(span -> isOf(span, TRACE, REPORTED_TRACE, HTTP_TRACE));
    assertThat(tracing.spans())
        .filteredOn(span -> span.traceId().equals(TRACE))
        .allMatch(span -> SPAN.equals(span.parentSpanId()))
        .anyMatch(span -> "process".equals(span.attribute("inferspan.ebpf.source")));
  }

  @Test
  void processExits_adoptionEnds() {
    try (EbpfBridge bridge = bridge();
        JavaChild tree = tree(bridge)) {
      Adoption adoption = bridge.adopt((int) tree.pid(), PARENT + "-01");
      say(tree, "1");
      tree.finish();
      TestKit.await("a launch", () -> launches(TRACE) == 1);
      adoption.close();
      adoption.close();
      assertThat(bridge.adopt((int) tree.pid(), PARENT + "-01").isActive()).isFalse();
    }
  }

  @Test
  void unsampledOrMalformedParent_adoptsNothing() {
    try (EbpfBridge bridge = bridge()) {
      int pid = (int) ProcessHandle.current().pid();
      assertThat(bridge.adopt(pid, PARENT + "-00").isActive()).isFalse();
      assertThatThrownBy(() -> bridge.adopt(pid, "00-1-2-01"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("W3C Trace Context");
    }
  }

  private EbpfBridge bridge() {
    TestKit.directory();
    return EbpfBridge.attach(Telemetry.using(tracing.openTelemetry()), TestKit.children().build());
  }

  private static JavaChild tree(EbpfBridge bridge) {
    String script = TestKit.script("tree.py").toString();
    JavaChild child =
        JavaChild.start(
            List.of("/usr/bin/python3", script, TestKit.directory().toString()), Map.of());
    assertThat(child.line()).isEqualTo("ready");
    TestKit.awaitLibrary(bridge, "libcuda.so.1");
    TestKit.awaitLibrary(bridge, "libinferspan_ckp.so");
    return child;
  }

  private static void say(JavaChild tree, String line) {
    tree.send(line);
    assertThat(tree.line()).isEqualTo("done");
  }

  private long launches(String trace) {
    return tracing.spans().stream()
        .filter(span -> SpanCatalog.unfolded(span.name()).equals("cuda.launch"))
        .filter(span -> span.traceId().equals(trace))
        .mapToLong(span -> span.attribute("inferspan.ebpf.count") instanceof Long count ? count : 1)
        .sum();
  }

  private static boolean isOf(SpanRecord span, String... traces) {
    return List.of(traces).contains(span.traceId());
  }
}
