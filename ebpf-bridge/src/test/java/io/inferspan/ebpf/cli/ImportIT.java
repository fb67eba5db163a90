package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code import}, up to what a collector receives. */
class ImportIT {

  private static final int OPERATIONS = 5000;
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  @TempDir private Path directory;

  @Test
  void moreOperationsThanTheQueueHolds_areAllReceived() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool =
            run(
                receiver.endpoint(),
                Map.of("TRACEPARENT", "00-" + TRACE + "-00f067aa0ba902b7-01"))) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      List<SpanRecord> spans = receiver.spans();
      assertThat(spans).hasSize(OPERATIONS + 1);
      assertThat(spans).allSatisfy(span -> assertThat(span.traceId()).isEqualTo(TRACE));
      assertThat(spans)
          .filteredOn(span -> span.name().equals("nccl.communicator"))
          .singleElement()
          .satisfies(span -> assertThat(span.parentSpanId()).isEqualTo("00f067aa0ba902b7"));
      assertThat(spans.getFirst().resource())
          .containsEntry("service.name", "inferspan-ebpf-import");
      assertThat(tool.output())
          .contains(OPERATIONS + " NCCL operations", "sent " + (OPERATIONS + 1) + " spans");
    }
  }

  @Test
  void missingCollector_unsentSpansAreReported() throws Exception {
    String endpoint;
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      endpoint = receiver.endpoint();
    }
    try (ToolProcess tool = run(endpoint, Map.of("OTEL_EXPORTER_OTLP_TIMEOUT", "500"))) {
      assertThat(tool.exitStatus()).isEqualTo(EbpfTool.FAILED);
      assertThat(tool.output()).contains("not all spans were sent: ");
    }
  }

  private ToolProcess run(String endpoint, Map<String, String> more) throws IOException {
    StringBuilder text = new StringBuilder();
    text.append(
        """
        {"header":{"id":"0xb","rank":3,"n_ranks":4,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.3","dump_timestamp_us":1748030377748202,"hostname":"b","pid":8},"dump_stats":{"coll_records":%d,"p2p_records":0}}
        """
            .formatted(OPERATIONS));
    for (int i = 0; i < OPERATIONS; i++) {
      text.append(
          """
          {"coll_perf":{"coll":"AllGather","coll_sn":%d,"coll_msg_size_bytes":8,"coll_exec_time_us":100}}
          """
              .formatted(i));
    }
    Path file = Files.writeString(directory.resolve("inspector.log"), text);
    Map<String, String> environment = new HashMap<>(more);
    environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    return ToolProcess.start(directory, environment, List.of(), "import", file.toString());
  }
}
