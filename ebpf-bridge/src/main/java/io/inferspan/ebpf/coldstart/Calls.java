package io.inferspan.ebpf.coldstart;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The calls of a file: each exit is paired with the last enter of its thread and number. */
final class Calls {

  private final List<Call> calls = new ArrayList<>();
  private final Map<Long, Statistics> byId = new TreeMap<>();
  private final long firstNanos;
  private final long lastNanos;

  /** What is known of all calls of a number. */
  static final class Statistics {
    long enters;
    long exits;
    long sumNanos;
    private long[] sorted = {};

    long count() {
      return sorted.length;
    }

    long unpaired() {
      return enters + exits - 2 * count();
    }

    /** The duration at this part of the sorted ones, by the index that the probe's script takes. */
    long quantile(double part) {
      return sorted.length == 0
          ? 0
          : sorted[Math.min(sorted.length - 1, (int) (sorted.length * part))];
    }
  }

  /** A call of which both ends are known. */
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
        statistics.enters++;
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

  /** By number; system calls come before library calls. */
  Map<Long, Statistics> byId() {
    return byId;
  }

  /** Those with two ends, by when they began. */
  List<Call> all() {
    return calls;
  }

  long firstNanos() {
    return firstNanos;
  }

  /** From the first record to the last. */
  long wallNanos() {
    return lastNanos - firstNanos;
  }

  /** How long at least one call was under way, of whichever thread. */
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
