package io.inferspan.ebpf.imports;

import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.ebpf.imports.NcclOperation.Rank;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON of NCCL's inspector, versions 4.0 to 4.3.
 *
 * <p>Up to version 4.2, each record has a header with its rank, and metadata with its time. In
 * version 4.3, one {@code dump_stats} record has both for the records that follow it.
 */
final class NcclInspector {

  private static final String VERSION = "inspector_output_format_version";

  /** The version in which records have no headers. */
  private static final String VERSION_WITHOUT_HEADERS = "v4.3";

  private static final List<String> PREFIXES = List.of("coll", "p2p");
  private static final List<String> PAYLOADS = List.of("coll_perf", "p2p_perf", "proxy_trace");
  private static final List<String> COUNTS =
      List.of("coll_records", "p2p_records", "proxy_records");

  private final List<NcclOperation> operations = new ArrayList<>();
  private final Map<String, Long> lost = new HashMap<>();
  private long proxyRecords;

  /** The dump that records without a header belong to; null if each record has a header. */
  private @Nullable Dump dump;

  private @Nullable JsonRecord last;

  /** A header, the time of its records, and how many records of each kind will follow. */
  private record Dump(Rank rank, long writtenNanos, Map<String, Long> left) {}

  List<NcclOperation> operations() {
    return operations;
  }

  /** Returns the number of records that the inspector dropped, by communicator. */
  Map<String, Long> lost() {
    return lost;
  }

  /**
   * Returns the number of records of proxy threads; they are parts of operations and do not become
   * spans.
   */
  long proxyRecords() {
    return proxyRecords;
  }

  void read(JsonRecord record) throws StackFormatException {
    last = record;
    if (record.has("dump_stats")) {
      begin(record);
      return;
    }
    int kind = kind(record);
    Dump context = record.has("header") ? context(record) : counted(record, kind);
    if (kind < PREFIXES.size()) {
      operations.add(operation(context, record.object(PAYLOADS.get(kind)), PREFIXES.get(kind)));
    } else {
      proxyRecords++;
    }
  }

  private static int kind(JsonRecord record) throws StackFormatException {
    for (int kind = 0; kind < PAYLOADS.size(); kind++) {
      if (record.has(PAYLOADS.get(kind))) {
        return kind;
      }
    }
    throw record.expected(
        "a record of NCCL's inspector or OTLP/JSON, such as one with", "coll_perf");
  }

  private Dump counted(JsonRecord record, int kind) throws StackFormatException {
    if (dump == null) {
      throw record.expected("an object", "header");
    }
    if (dump.left().merge(PAYLOADS.get(kind), -1L, Long::sum) < 0) {
      throw record.expected(
          "no more records than dump_stats counted, but found one more", PAYLOADS.get(kind));
    }
    return dump;
  }

  private void begin(JsonRecord record) throws StackFormatException {
    endOfDump();
    JsonRecord stats = record.object("dump_stats");
    Map<String, Long> left = new HashMap<>();
    for (int kind = 0; kind < PAYLOADS.size(); kind++) {
      Long count = stats.countOrNull(COUNTS.get(kind));
      left.put(PAYLOADS.get(kind), count == null ? 0 : count);
    }
    Dump begun = context(record);
    boolean counts = record.object("metadata").text(VERSION).equals(VERSION_WITHOUT_HEADERS);
    dump = counts ? new Dump(begun.rank(), begun.writtenNanos(), left) : null;
    for (String kind : List.of("coll", "p2p", "proxy")) {
      Long dropped = stats.countOrNull(kind + "_dropped_since_last_dump");
      if (dropped != null) {
        lost.merge(begun.rank().communicator(), dropped, Long::sum);
      }
    }
  }

  private static Dump context(JsonRecord record) throws StackFormatException {
    JsonRecord metadata = record.object("metadata");
    String version = metadata.text(VERSION);
    if (!version.matches("v4\\.[0-3]")) {
      throw metadata.expected("version v4.0 to v4.3, not " + version + ", in", VERSION);
    }
    JsonRecord header = record.object("header");
    Long nodes = header.countOrNull("nnodes");
    Rank rank =
        new Rank(
            header.text("id"),
            header.count("rank"),
            header.count("n_ranks"),
            nodes == null ? 0 : nodes,
            metadata.text("hostname"),
            metadata.count("pid"));
    return new Dump(rank, metadata.microsAsNanos("dump_timestamp_us"), Map.of());
  }

  private static NcclOperation operation(Dump dump, JsonRecord perf, String prefix)
      throws StackFormatException {
    String name = perf.text(prefix);
    if (!name.matches("[A-Za-z]{1,32}")) {
      throw perf.expected("the name of an operation", prefix);
    }
    long length = perf.microsAsNanos(prefix + "_exec_time_us");
    long begin = begin(perf, prefix);
    return new NcclOperation(
        dump.rank(),
        call(name),
        perf.count(prefix + "_sn"),
        perf.countOrNull(prefix + "_peer"),
        perf.count(prefix + "_msg_size_bytes"),
        perf.numberOrNull(prefix + "_busbw_gbs"),
        algorithm(perf, prefix),
        perf.textOrNull(prefix + "_timing_source"),
        begin > 0,
        begin > 0 ? perf.object("event_trace_ts").microsAsNanos(prefix + "_start_ts") : 0,
        begin > 0 ? begin : Math.max(0, dump.writtenNanos() - length),
        begin > 0 ? begin + length : dump.writtenNanos());
  }

  /**
   * Returns when the first GPU kernel started or, without kernels, when the operation started; 0 if
   * the inspector's verbose mode was off.
   */
  private static long begin(JsonRecord perf, String prefix) throws StackFormatException {
    if (!perf.has("event_trace_ts")) {
      return 0;
    }
    JsonRecord trace = perf.object("event_trace_ts");
    long first = 0;
    for (JsonRecord kernel : trace.objects("kernel_events")) {
      long begin = kernel.microsAsNanos("kernel_start_ts");
      first = first == 0 || (begin > 0 && begin < first) ? begin : first;
    }
    return first > 0 ? first : trace.microsAsNanos(prefix + "_start_ts");
  }

  /** Returns the bridge's name for a call, such as all_reduce for AllReduce. */
  private static String call(String name) {
    return name.replace("AlltoAll", "AllToAll")
        .replaceAll("([a-z])([A-Z])", "$1_$2")
        .toLowerCase(Locale.ROOT);
  }

  private static @Nullable String algorithm(JsonRecord perf, String prefix)
      throws StackFormatException {
    return Stream.of(perf.textOrNull(prefix + "_algo"), perf.textOrNull(prefix + "_proto"))
        .filter(word -> word != null && !word.equals("unknown"))
        .reduce((algorithm, protocol) -> algorithm + "/" + protocol)
        .orElse(null);
  }

  /** Rejects an incomplete dump when the next dump or file begins. */
  void endOfDump() throws StackFormatException {
    if (dump != null && last != null) {
      for (Map.Entry<String, Long> left : dump.left().entrySet()) {
        if (left.getValue() > 0) {
          throw last.expected(
              left.getValue() + " more records, as counted by dump_stats, with", left.getKey());
        }
      }
    }
    dump = null;
  }
}
