package io.inferspan.ebpf.coldstart;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The system and library calls in a recording in the format of vllm-coldstart-probe. Each exit is
 * paired with the last entry of the same call number on the same thread.
 */
final class Calls {

  private final List<Call> calls = new ArrayList<>();
  private final Map<Long, Statistics> byId = new TreeMap<>();
  private final long firstNanos;
  private final long lastNanos;

  /** Counts and durations of all calls with one number. */
  static final class Statistics {
    long entries;
    long exits;
    long sumNanos;
    private long[] sorted = {};

    long count() {
      return sorted.length;
    }

    long unpaired() {
      return entries + exits - 2 * count();
    }

    /**
     * Returns a quantile of the durations, with the same rounding as the script of
     * vllm-coldstart-probe.
     */
    long quantile(double part) {
      return sorted.length == 0
          ? 0
          : sorted[Math.min(sorted.length - 1, (int) (sorted.length * part))];
    }
  }

  /** A call whose entry and exit were recorded. */
  record Call(long pid, long tid, long id, long startNanos, long endNanos) {

    long nanos() {
      return endNanos - startNanos;
    }
  }

  private record Key(long pid, long tid, long id) {}

  Calls(List<CallRecord> records) {
    List<CallRecord> ordered = new ArrayList<>(records);
    ordered.sort(Comparator.comparingLong(CallRecord::timestampNanos));
    this.firstNanos = ordered.isEmpty() ? 0 : ordered.getFirst().timestampNanos();
    this.lastNanos = ordered.isEmpty() ? 0 : ordered.getLast().timestampNanos();
    pair(ordered);
    calls.sort(Comparator.comparingLong(Call::startNanos));
    Map<Long, List<Call>> groups = new HashMap<>();
    calls.forEach(call -> groups.computeIfAbsent(call.id(), id -> new ArrayList<>()).add(call));
    groups.forEach((id, group) -> summarise(of(id), group));
  }

  private void pair(List<CallRecord> ordered) {
    Map<Key, Long> entered = new HashMap<>();
    for (CallRecord record : ordered) {
      Key key = new Key(record.pid(), record.tid(), record.call());
      Statistics statistics = of(record.call());
      if (!record.exit()) {
        statistics.entries++;
        entered.put(key, record.timestampNanos());
        continue;
      }
      statistics.exits++;
      Long start = entered.remove(key);
      if (start != null) {
        calls.add(
            new Call(record.pid(), record.tid(), record.call(), start, record.timestampNanos()));
      }
    }
  }

  private static void summarise(Statistics statistics, List<Call> group) {
    statistics.sorted = group.stream().mapToLong(Call::nanos).sorted().toArray();
    statistics.sumNanos = Arrays.stream(statistics.sorted).sum();
  }

  private Statistics of(long id) {
    return byId.computeIfAbsent(id, key -> new Statistics());
  }

  /** Returns the statistics by number; system calls come before library calls. */
  Map<Long, Statistics> byId() {
    return byId;
  }

  /** Returns the complete calls, ordered by start. */
  List<Call> all() {
    return calls;
  }

  long firstNanos() {
    return firstNanos;
  }

  /** Returns the time from the first record to the last. */
  long wallNanos() {
    return lastNanos - firstNanos;
  }

  /** Returns the time during which at least one call of any thread was in progress. */
  long coveredNanos() {
    long covered = 0;
    long end = firstNanos;
    for (Call call : calls) {
      covered += Math.max(0, call.endNanos() - Math.max(end, call.startNanos()));
      end = Math.max(end, call.endNanos());
    }
    return covered;
  }
}
