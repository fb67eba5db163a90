package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.Telemetry;
import io.inferspan.catalog.SpanCatalog;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A program that NVIDIA's compiler built, on NVIDIA's own runtime. Without a GPU every call fails,
 * but is observed all the same.
 */
class VendorRuntimeIT {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String TRACEPARENT = "00-" + TRACE + "-b7ad6b7169203331-01";
  private static final long BLOCKS = 4096;
  private static final long ALLOCATED_BYTES = 3L * (4 << 20);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void callsOfTheVendorsLibrary_areSpans() {
    Path program = TestKit.directory().resolve("vadd");
    assumeTrue(Files.exists(program), "needs a CUDA toolkit");
    EbpfBridge bridge =
        EbpfBridge.attach(Telemetry.using(tracing.openTelemetry()), TestKit.children().build());
    String outcome;
    try (bridge;
        JavaChild child =
            JavaChild.start(List.of(program.toString(), TRACEPARENT, "wait"), Map.of())) {
      assertThat(child.line()).isEqualTo("ready");
      Eventually.is("functions of the runtime", () -> watchesARuntime(bridge));
      TestKit.awaitLibrary(bridge, "vadd");
      child.send("go");
      outcome = child.line();
      child.finish();
    }

    assertThat(sum("cuda.launch", "inferspan.ebpf.cuda.blocks")).isEqualTo(BLOCKS);
    assertThat(sum("cuda.alloc", "inferspan.ebpf.bytes")).isEqualTo(ALLOCATED_BYTES);
    assertThat(tracing.spans()).allMatch(span -> span.traceId().equals(TRACE));
    boolean failed = !outcome.startsWith("malloc 0 ");
    assertThat(tracing.spans())
        .filteredOn(span -> span.name().equals("cuda.alloc"))
        .allMatch(span -> span.isError() == failed);
  }

  private static boolean watchesARuntime(EbpfBridge bridge) {
    return bridge.status().libraries().stream()
        .anyMatch(library -> library.outcome().matches("libcudart\\.so.*: [0-9]+ functions"));
  }

  private long sum(String name, String attribute) {
    return tracing.spans().stream()
        .filter(span -> SpanCatalog.unfolded(span.name()).equals(name))
        .mapToLong(span -> value(span, attribute))
        .sum();
  }

  private static long value(SpanRecord span, String attribute) {
    return span.attribute(attribute) instanceof Long value ? value : 0;
  }
}
