package io.inferspan.ebpf.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of NCCL's inspector as spans. */
class NcclImportTest {

  private static final long MICRO = 1000;
  private static final long WRITTEN_NANOS = 1_748_030_377_748_202L * MICRO;

  /** A record of version 4.0, over several lines, without the times of events. */
  private static final String PLAIN =
      """
      {
        "header": {"id": "0x7f8c496ae9f661", "rank": 2, "n_ranks": 8, "nnodes": 1},
        "metadata": {"inspector_output_format_version": "v4.0", "git_rev": "",
          "rec_mechanism": "profiler_plugin", "dump_timestamp_us": 1748030377748202,
          "hostname": "node-1", "pid": 1639453},
        "coll_perf": {"coll": "AllReduce", "coll_sn": 1407, "coll_msg_size_bytes": 17179869184,
          "coll_exec_time_us": 61974, "coll_algobw_gbs": 277.210914, "coll_busbw_gbs": 485.119099}
      }
      """;

  /** Records of a verbose inspector: a collective with two kernels, and a transfer. */
  private static final String VERBOSE =
      """
      {"header":{"id":"0xa","rank":0,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.2","dump_timestamp_us":9000,"hostname":"a","pid":7},"coll_perf":{"coll":"ReduceScatter","coll_algo":"Ring","coll_proto":"LL128","coll_sn":1,"coll_msg_size_bytes":64,"coll_exec_time_us":500,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":1,"coll_busbw_gbs":0.5,"event_trace_sn":{"coll_start_sn":1},"event_trace_ts":{"coll_start_ts":1000,"coll_stop_ts":1005,"kernel_events":[{"channel_id":0,"kernel_start_ts":1300,"kernel_stop_ts":1700},{"channel_id":1,"kernel_start_ts":1200,"kernel_stop_ts":1690}]}}}
      {"header":{"id":"0xa","rank":0,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.2","dump_timestamp_us":9000,"hostname":"a","pid":7},"p2p_perf":{"p2p":"Send","p2p_sn":2,"p2p_peer":1,"p2p_msg_size_bytes":32,"p2p_exec_time_us":40,"p2p_timing_source":"kernel_cpu","event_trace_ts":{"p2p_start_ts":2000,"p2p_stop_ts":2001,"kernel_events":[]}}}
      """;

  /** In version 4.3, the first record counts the others, which have no header. */
  private static final String COUNTED =
      """
      {"header":{"id":"0xb","rank":3,"n_ranks":4,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.3","dump_timestamp_us":5000,"hostname":"b","pid":8},"dump_stats":{"coll_records":1,"coll_dropped_total":9,"coll_dropped_since_last_dump":5,"p2p_records":1,"p2p_dropped_total":0,"p2p_dropped_since_last_dump":0,"proxy_records":1}}
      {"coll_perf":{"coll":"AllGather","coll_sn":4,"coll_msg_size_bytes":8,"coll_exec_time_us":100}}
      {"p2p_perf":{"p2p":"Recv","p2p_algo":"unknown","p2p_sn":5,"p2p_peer":0,"p2p_msg_size_bytes":8,"p2p_exec_time_us":100}}
      {"proxy_trace":{"record_type":"proxy_op","record_sn":1}}
      """;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @TempDir private Path directory;

  @Test
  void collective_isASpanOfItsExecutionTime_withItsRankAndBandwidth() throws IOException {
    read(PLAIN);

    SpanRecord span = only("nccl.all_reduce");
    assertThat(span.attributes())
        .contains(
            entry("inferspan.ebpf.nccl.communicator", "0x7f8c496ae9f661"),
            entry("inferspan.ebpf.nccl.rank", 2L),
            entry("inferspan.ebpf.nccl.sequence", 1407L),
            entry("inferspan.ebpf.bytes", 17_179_869_184L),
            entry("inferspan.ebpf.nccl.bus_bandwidth_gbs", 485.119099),
            entry("inferspan.synthesised", true),
            entry("host.name", "node-1"),
            entry("process.pid", 1_639_453L))
        .doesNotContainKeys("inferspan.ebpf.nccl.timing_source", "inferspan.ebpf.nccl.peer");
    assertThat(span.endEpochNanos()).isEqualTo(WRITTEN_NANOS);
    assertThat(span.startEpochNanos()).isEqualTo(WRITTEN_NANOS - 61_974 * MICRO);
  }

  @Test
  void verboseRecord_beginsWithItsFirstKernel() throws IOException {
    read(VERBOSE);

    SpanRecord collective = only("nccl.reduce_scatter");
    assertThat(collective.startEpochNanos()).isEqualTo(1200 * MICRO);
    assertThat(collective.endEpochNanos()).isEqualTo(1700 * MICRO);
    assertThat(collective.attributes())
        .contains(
            entry("inferspan.ebpf.nccl.timing_source", "kernel_gpu"),
            entry("inferspan.ebpf.nccl.algorithm", "Ring/LL128"))
        .doesNotContainKey("inferspan.synthesised");
    SpanRecord transfer = only("nccl.send");
    assertThat(transfer.startEpochNanos()).isEqualTo(2000 * MICRO);
    assertThat(transfer.attributes()).contains(entry("inferspan.ebpf.nccl.peer", 1L));
  }

  @Test
  void ranksOfACommunicator_areInOneTrace() throws IOException {
    read(VERBOSE, VERBOSE.replace("\"rank\":0", "\"rank\":1"), PLAIN);

    List<SpanRecord> communicators = named("nccl.communicator");
    assertThat(communicators).hasSize(2);
    SpanRecord both = communicators.getLast();
    assertThat(both.attributes())
        .contains(
            entry("inferspan.ebpf.nccl.communicator", "0xa"),
            entry("inferspan.ebpf.nccl.ranks", 2L),
            entry("inferspan.ebpf.count", 4L));
    assertThat(both.startEpochNanos()).isEqualTo(1200 * MICRO);
    assertThat(both.endEpochNanos()).isEqualTo(2040 * MICRO);
    assertThat(named("nccl.reduce_scatter"))
        .hasSize(2)
        .allSatisfy(span -> assertThat(span.parentSpanId()).isEqualTo(both.spanId()));
  }

  /** Returns an AllReduce of a rank on a host of its own, with times in microseconds. */
  private static String allReduce(int rank, int sequence, long enqueued, long end) {
    return """
    {"header":{"id":"0xc","rank":%d,"n_ranks":2,"nnodes":2},"metadata":{"inspector_output_format_version":"v4.2","dump_timestamp_us":9000,"hostname":"node-%d","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":%d,"coll_msg_size_bytes":64,"coll_exec_time_us":100,"event_trace_ts":{"coll_start_ts":%d,"coll_stop_ts":%d,"kernel_events":[{"channel_id":0,"kernel_start_ts":%d,"kernel_stop_ts":%d}]}}}
    """
        .formatted(rank, rank, sequence, enqueued, enqueued + 1, end - 100, end);
  }

  @Test
  void ranksCallDifferentSizes_eachDifferenceIsCounted() throws IOException {
    String bytes = "\"coll_msg_size_bytes\":64";
    read(
        allReduce(0, 1, 1_000_000, 1_001_000),
        allReduce(0, 2, 1_002_000, 1_003_000),
        allReduce(1, 1, 1_000_000, 1_001_000).replace(bytes, bytes + "0"),
        allReduce(1, 2, 1_002_000, 1_003_000));

    assertThat(only("nccl.communicator").attributes())
        .contains(entry("inferspan.ebpf.nccl.order_violations", 1L));
  }

  @Test
  void clockOfAnotherHost_isCorrected_withItsMaximumError() throws IOException {
    long ahead = 40_000;
    read(
        allReduce(0, 1, 1_000_000, 1_001_000),
        allReduce(1, 1, 1_000_400 + ahead, 1_001_010 + ahead),
        allReduce(0, 2, 1_002_000, 1_003_000),
        allReduce(1, 2, 1_002_900 + ahead, 1_003_020 + ahead));

    assertThat(named("nccl.all_reduce"))
        .filteredOn(span -> "node-0".equals(span.attribute("host.name")))
        .hasSize(2)
        .allSatisfy(span -> assertThat(span.attributes()).doesNotContainKey("clock.offset_ms"));
    SpanRecord other =
        named("nccl.all_reduce").stream()
            .filter(span -> "node-1".equals(span.attribute("host.name")))
            .filter(span -> Long.valueOf(2).equals(span.attribute("inferspan.ebpf.nccl.sequence")))
            .findFirst()
            .orElseThrow();
    double offset = millis(other, "clock.offset_ms");
    double error = millis(other, "clock.error_ms");
    assertThat(Math.abs(offset - ahead / 1e3)).isLessThanOrEqualTo(error);
    assertThat(error).isLessThan(0.6);
    assertThat(other.endEpochNanos())
        .isEqualTo((1_003_020 + ahead) * MICRO - Math.round(offset * 1e6));
    assertThat(only("nccl.communicator").endEpochNanos() / MICRO).isLessThan(1_004_000);
    assertThat(only("nccl.communicator").attributes()).doesNotContainKey("clock.order_violations");
  }

  @Test
  void clockThatWasSet_isCounted() throws IOException {
    read(
        allReduce(0, 1, 1_000_000, 1_001_000),
        allReduce(1, 1, 1_000_400, 1_001_010),
        allReduce(0, 2, 1_002_000, 1_003_000),
        allReduce(1, 2, 1_032_900, 1_033_020));

    assertThat(only("nccl.communicator").attributes()).containsEntry("clock.order_violations", 1L);
  }

  @Test
  void collectiveThatContradictsTheClocksOfTwoHosts_isCountedOnce() throws IOException {
    read(
        allReduce(0, 1, 1_000_000, 1_001_000),
        allReduce(1, 1, 1_000_400, 1_001_010),
        allReduce(2, 1, 1_000_400, 1_001_010),
        allReduce(0, 2, 1_002_000, 1_003_000),
        allReduce(1, 2, 1_032_900, 1_033_020),
        allReduce(2, 2, 1_032_900, 1_033_020));

    assertThat(only("nccl.communicator").attributes()).containsEntry("clock.order_violations", 1L);
  }

  @Test
  void countedRecords_haveTheHeaderOfTheirDump() throws IOException {
    SpanImport spans = read(COUNTED, COUNTED + PLAIN.replace("v4.0", "v4.1"));

    assertThat(named("nccl.all_gather"))
        .hasSize(2)
        .allSatisfy(
            span ->
                assertThat(span.attributes())
                    .contains(
                        entry("inferspan.ebpf.nccl.rank", 3L),
                        entry("inferspan.ebpf.nccl.communicator", "0xb"),
                        entry("process.pid", 8L)));
    assertThat(named("nccl.recv"))
        .hasSize(2)
        .allSatisfy(
            span ->
                assertThat(span.attributes()).doesNotContainKey("inferspan.ebpf.nccl.algorithm"));
    assertThat(named("nccl.communicator").getLast().attributes())
        .contains(entry("inferspan.ebpf.dropped", 10L));
    assertThat(spans.report())
        .containsExactly(
            "5 NCCL operations",
            "10 records that NCCL's inspector dropped",
            "2 records of proxy threads, left out");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "v4.0 | v5.0 | line 1, column 1: expected version v4.0 to v4.3, not v5.0, in",
        "coll_perf | colls | line 1, column 1: expected a record of NCCL's inspector",
        "1407 | -1 | line 1, column 1: expected a whole number 'coll_perf.coll_sn' in this object",
        "61974 | null | expected microseconds 'coll_perf.coll_exec_time_us' in this object",
        "AllReduce | all reduce | expected the name of an operation 'coll_perf.coll'",
        "\"header\" | \"head\" | line 1, column 1: expected an object 'header' in this object",
        "1748030377748202 | 1e99 | expected microseconds 'metadata.dump_timestamp_us'",
        "485.119099 | oops | line 7, column 86: expected JSON: "
      })
  void malformedFile_isRefusedWithLineAndColumn(String from, String to, String message) {
    assertThatThrownBy(() -> read(PLAIN.replace(from, to)))
        .isInstanceOf(StackFormatException.class)
        .hasMessageContaining(message);
    assertThat(tracing.spans()).isEmpty();
  }

  @Test
  void dumpWithFewerOrMoreRecordsThanCounted_isRefused() {
    assertThatThrownBy(() -> read(COUNTED.replace("\"p2p_records\":1", "\"p2p_records\":2")))
        .hasMessage(
            "line 4, column 1: expected 1 more records, as counted by dump_stats, with 'p2p_perf' in this object");
    assertThatThrownBy(() -> read(COUNTED.replace("\"p2p_records\":1", "\"p2p_records\":0")))
        .hasMessageContaining("line 3, column 1: expected no more records than dump_stats counted")
        .hasMessageContaining("p2p_perf");
  }

  @Test
  void damagedFile_isReadOrRefused() {
    Random random = new Random(7);
    List<String> valid = List.of(PLAIN, VERBOSE, COUNTED, LlmRequestImportTest.SPAN);
    for (int i = 0; i < 2000; i++) {
      StringBuilder text = new StringBuilder(valid.get(random.nextInt(valid.size())));
      for (int changes = random.nextInt(4); changes >= 0; changes--) {
        int at = random.nextInt(text.length());
        text.replace(
            at, at + random.nextInt(3), String.valueOf("{}[]\",:09-e".charAt(random.nextInt(11))));
      }
      try {
        Path file = Files.writeString(directory.resolve("damaged"), text);
        new SpanImport(NcclMaps.none()).read(file);
      } catch (IOException refused) {
        assertThat(refused).isInstanceOf(StackFormatException.class);
      }
    }
  }

  private SpanImport read(String... texts) throws IOException {
    SpanImport spans = new SpanImport(NcclMaps.none());
    for (String text : texts) {
      spans.read(Files.writeString(directory.resolve("inspector.log"), text));
    }
    spans.write(Telemetry.using(tracing.openTelemetry()), Context.root());
    return spans;
  }

  private static double millis(SpanRecord span, String attribute) {
    return span.attribute(attribute) instanceof Double millis ? millis : Double.NaN;
  }

  private List<SpanRecord> named(String name) {
    return tracing.spans().stream()
        .filter(span -> span.name().equals(name))
        .sorted((a, b) -> Long.compare(b.startEpochNanos(), a.startEpochNanos()))
        .toList();
  }

  private SpanRecord only(String name) {
    assertThat(named(name)).hasSize(1);
    return named(name).getFirst();
  }
}
