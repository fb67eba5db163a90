package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Events of a program that reports which request it serves, from the call to the span. */
class ReportedEventsIT {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final String TRACEPARENT = "00-" + TRACE + "-" + SPAN + "-01";
  private static final long NOT_A_TERMINAL = -25;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @TempDir private Path directory;

  @Test
  void collectives_areSpansWithTheirBytes() {
    List<SpanRecord> spans = spansOf("nccl", TestKit.children());

    assertThat(spans).allMatch(span -> span.traceId().equals(TRACE));
    assertThat(spans).allMatch(span -> span.parentSpanId().equals(SPAN));
    assertCollective(spans, "nccl.all_reduce", 1024, "float32", "sum");
    assertBytes(spans, "nccl.all_reduce", 4096);
    assertCollective(spans, "nccl.reduce_scatter", 512, "bfloat16", "max");
    assertBytes(spans, "nccl.reduce_scatter", 1024);
    assertCollective(spans, "nccl.all_gather", 256, "float16", null);
    assertBytes(spans, "nccl.all_gather", 512);
    assertCollective(spans, "nccl.broadcast", 128, "int8", null);
    assertBytes(spans, "nccl.broadcast", 128);
    assertCollective(spans, "nccl.reduce", 64, "float32", "max");
    assertBytes(spans, "nccl.reduce", 256);
    assertCollective(spans, "nccl.send", 32, "float16", null);
    assertBytes(spans, "nccl.send", 64);
    assertCollective(spans, "nccl.recv", 16, "float16", null);
    assertBytes(spans, "nccl.recv", 32);
    only(spans, "nccl.comm_init");
    only(spans, "nccl.group_end");
    assertThat(spans.stream().map(span -> span.attribute("inferspan.ebpf.nccl.communicator")))
        .filteredOn(name -> name != null)
        .hasSize(7)
        .containsOnly(only(spans, "nccl.send").attribute("inferspan.ebpf.nccl.communicator"));
  }

  @Test
  void communicator_isKnownFromItsCreationToItsEnd() {
    List<SpanRecord> calls =
        spansOf("communicators", TestKit.children()).stream()
            .filter(span -> span.name().equals("nccl.all_reduce"))
            .toList();

    assertThat(calls).hasSize(3);
    for (int i = 0; i < 2; i++) {
      assertThat(calls.get(i).attributes())
          .containsEntry("inferspan.ebpf.nccl.sequence", i + 1L)
          .containsEntry("inferspan.ebpf.nccl.rank", 3L)
          .containsEntry("inferspan.ebpf.nccl.ranks", 4L);
    }
    assertThat(calls.get(2).attributes())
        .containsEntry("inferspan.ebpf.elements", 3L)
        .doesNotContainKeys("inferspan.ebpf.nccl.sequence", "inferspan.ebpf.nccl.rank");
  }

  private static void assertCollective(
      List<SpanRecord> spans, String name, long elements, String type, @Nullable String reduction) {
    SpanRecord span = only(spans, name);
    assertThat(span.attribute("inferspan.ebpf.elements")).isEqualTo(elements);
    assertThat(span.attribute("inferspan.ebpf.nccl.data_type")).isEqualTo(type);
    assertThat(span.attribute("inferspan.ebpf.nccl.reduction")).isEqualTo(reduction);
    assertThat(span.attribute("inferspan.ebpf.result")).isEqualTo(0L);
  }

  private static void assertBytes(List<SpanRecord> spans, String name, long bytes) {
    assertThat(only(spans, name).attribute("inferspan.ebpf.bytes")).as(name).isEqualTo(bytes);
  }

  /**
   * There is no GPU, so the program uses a file with a device's name, which rejects the command.
   */
  @Test
  void commandToAGpu_isTheOnlySpan() {
    SpanRecord command = only(spansOf("devices", TestKit.children()), "syscall.ioctl_gpu");

    assertThat(command.attribute("inferspan.ebpf.count")).isNull();
    assertThat(command.attribute("inferspan.ebpf.result")).isEqualTo(NOT_A_TERMINAL);
    assertThat(command.isError()).isTrue();
  }

  @Test
  void operation_isAttributedToTheNextCommand() {
    List<SpanRecord> spans = spansOf("operations", TestKit.children());

    assertThat(spans.stream().filter(span -> span.name().equals("ckp.operation")))
        .extracting(span -> span.attribute("inferspan.ebpf.ckp.operation"))
        .containsExactlyInAnyOrder("prefill", "decode");
    SpanRecord command = only(spans, "ckp.ioctl");
    assertThat(command.attribute("inferspan.ebpf.count")).isNull();
    SpanRecord prefill =
        spans.stream()
            .filter(span -> "prefill".equals(span.attribute("inferspan.ebpf.ckp.operation")))
            .findFirst()
            .orElseThrow();
    assertThat(prefill.attribute("inferspan.ebpf.ckp.operation.id")).isEqualTo(1L);
    assertThat(command.attribute("inferspan.ebpf.ckp.operation.id")).isEqualTo(1L);
    assertThat(command.startEpochNanos())
        .isBetween(prefill.startEpochNanos(), prefill.endEpochNanos());
  }

  @Test
  void ignoreBelow_shortCallsAreLeftOutInTheKernel() {
    EbpfBridge bridge = report("waits", TestKit.children().ignoreBelow(Duration.ofMillis(5)));

    assertThat(produced(bridge, "syscall.read")).isZero();
    assertThat(produced(bridge, "syscall.poll")).isEqualTo(1);
    assertThat(tracing.spans()).anyMatch(span -> span.name().equals("syscall.poll"));
  }

  @Test
  void noIgnoreBelow_shortCallsAreRecorded() {
    EbpfBridge bridge = report("waits", TestKit.children());

    assertThat(produced(bridge, "syscall.read")).isGreaterThanOrEqualTo(50);
    assertThat(produced(bridge, "syscall.poll")).isEqualTo(1);
  }

  private static long produced(EbpfBridge bridge, String kind) {
    return bridge.status().events().stream()
        .filter(events -> events.kind().equals(kind))
        .mapToLong(BridgeStatus.Events::produced)
        .sum();
  }

  private List<SpanRecord> spansOf(String word, BridgeConfig.Builder config) {
    report(word, config);
    return tracing.spans();
  }

  /** Sends a command to a program under a bridge, and returns the bridge after it was closed. */
  private EbpfBridge report(String word, BridgeConfig.Builder config) {
    String kit = TestKit.directory().toString();
    String script = TestKit.script("commanded.py").toString();
    EbpfBridge bridge = EbpfBridge.attach(Telemetry.using(tracing.openTelemetry()), config.build());
    try (bridge;
        JavaChild child =
            JavaChild.start(
                List.of("/usr/bin/python3", script, kit, directory.toString()), Map.of())) {
      assertThat(child.line()).isEqualTo("ready");
      TestKit.awaitLibrary(bridge, "libnccl.so.2");
      TestKit.awaitLibrary(bridge, "libinferspan_ckp.so");
      child.send(word + " " + TRACEPARENT);
      assertThat(child.line()).isEqualTo("done");
      child.finish();
    }
    return bridge;
  }

  private static SpanRecord only(List<SpanRecord> spans, String name) {
    List<SpanRecord> found = spans.stream().filter(span -> span.name().equals(name)).toList();
    assertThat(found).as(name).hasSize(1);
    return found.get(0);
  }
}
