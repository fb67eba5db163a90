package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every read of a Java thread while a sampled span is current is attributed to that span. */
class InProcessIT {

  private final Map<String, Long> wanted = new HashMap<>();
  private final Map<String, Long> seen = new HashMap<>();

  @Test
  void readsUnderASpan_areItsOnlyChildren() {
    TestObjects.assumeBpf();
    try (OtlpReceiver receiver = OtlpReceiver.start();
        JavaChild child = JavaChild.start(BridgeProcess.class, environment(receiver), "read")) {
      assertThat(child.line()).isEqualTo("attached");
      for (String line = child.line(); !line.startsWith("the application"); line = child.line()) {
        String[] words = line.split(" ", 3);
        wanted.put(words[2], words[0].equals("platform") ? Long.parseLong(words[1]) : 0);
      }
      child.finish();
      receiver.spans().forEach(this::see);
    }

    assertThat(wanted).hasSize(125);
    wanted.values().removeIf(reads -> reads == 0);
    Map<String, Long> missed = new HashMap<>(wanted);
    missed.entrySet().removeAll(seen.entrySet());
    Map<String, Long> wrong = new HashMap<>(seen);
    wrong.entrySet().removeAll(wanted.entrySet());
    assertThat(missed).as("missing reads, unlike %s", wrong).isEmpty();
    assertThat(wrong).as("unexpected reads").isEmpty();
  }

  private void see(SpanRecord span) {
    // Counts only reads of a device: a thread may also read files to load classes.
    if (SpanCatalog.unfolded(span.name()).equals("syscall.read")
        && "unknown".equals(span.attribute("inferspan.ebpf.fd.kind"))) {
      assertThat(span.attributes()).containsEntry("inferspan.ebpf.source", "own_thread");
      long reads = span.attribute("inferspan.ebpf.count") instanceof Long many ? many : 1;
      seen.merge(span.traceId(), reads, Long::sum);
    }
  }

  private static Map<String, String> environment(OtlpReceiver receiver) {
    return Map.of(
        "OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint(),
        "OTEL_TRACES_SAMPLER", "always_on",
        "OTEL_BSP_MAX_QUEUE_SIZE", "65536",
        "INFERSPAN_EBPF_EVENTS", "syscalls",
        "INFERSPAN_EBPF_SCOPE", "own");
  }
}
