package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.coldstart.Calls.Call;
import io.inferspan.ebpf.coldstart.Calls.Statistics;
import java.util.Comparator;
import java.util.Formatter;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Formats a file of calls as tables. */
public final class CallReport {

  private static final int SLOWEST = 10;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final double PERCENT = 100;

  private final Calls calls;
  private final Formatter text = new Formatter(Locale.ROOT);

  private CallReport(Calls calls) {
    this.calls = calls;
  }

  /**
   * Returns tables of the calls, their durations, the slowest calls, and the time without a call.
   *
   * @param bucketMillis the interval of a table over time; 0 for no such table
   */
  public static String of(List<CallRecord> records, int bucketMillis) {
    CallReport report = new CallReport(new Calls(records));
    report.durations(records.size());
    report.slowest();
    if (bucketMillis > 0) {
      report.profile(bucketMillis);
    }
    return report.text.toString();
  }

  /** Returns a table that compares the calls of two files. */
  public static String compare(List<CallRecord> before, List<CallRecord> after) {
    CallReport report = new CallReport(new Calls(before));
    report.compare(new Calls(after));
    return report.text.toString();
  }

  private void durations(int records) {
    Set<Long> processes = new HashSet<>();
    Set<Long> threads = new HashSet<>();
    for (Call call : calls.all()) {
      processes.add(call.pid());
      threads.add(call.tid());
    }
    text.format(
        "%,d records, %,d calls of %,d processes and %,d threads in %.3f s%n%n",
        records,
        calls.all().size(),
        processes.size(),
        threads.size(),
        calls.wallNanos() / NANOS_PER_SECOND);
    text.format(
        "  %-26s %10s %12s %7s %10s %10s %10s %10s %9s%n",
        "CALL", "CALLS", "TOTAL ms", "SHARE", "P50 us", "P95 us", "P99 us", "MAX ms", "UNPAIRED");
    group("all system calls", false);
    group("all library calls", true);
    long gap = calls.wallNanos() - calls.coveredNanos();
    text.format(
        "  %-26s %10s %,12.2f %6.1f%%   no thread is in any of these calls%n",
        "between calls", "", gap / NANOS_PER_MILLI, share(gap));
  }

  private void group(String name, boolean library) {
    long count = 0;
    long sum = 0;
    for (Map.Entry<Long, Statistics> entry : calls.byId().entrySet()) {
      if (entry.getKey() >= CallIds.FIRST_LIBRARY_CALL == library) {
        row(entry.getKey(), entry.getValue());
        count += entry.getValue().count();
        sum += entry.getValue().sumNanos;
      }
    }
    text.format("  %-26s %,10d %,12.2f %6.1f%%%n", name, count, sum / NANOS_PER_MILLI, share(sum));
  }

  private void row(long id, Statistics of) {
    text.format(
        "  %-26s %,10d %,12.2f %6.1f%% %,10.1f %,10.1f %,10.1f %,10.2f %,9d%n",
        CallIds.name(id),
        of.count(),
        of.sumNanos / NANOS_PER_MILLI,
        share(of.sumNanos),
        of.quantile(0.5) / NANOS_PER_MICRO,
        of.quantile(0.95) / NANOS_PER_MICRO,
        of.quantile(0.99) / NANOS_PER_MICRO,
        of.quantile(1) / NANOS_PER_MILLI,
        of.unpaired());
  }

  private double share(long nanos) {
    return calls.wallNanos() == 0 ? 0 : PERCENT * nanos / calls.wallNanos();
  }

  private void slowest() {
    List<Call> slowest =
        calls.all().stream()
            .sorted(Comparator.comparingLong(Call::nanos).reversed())
            .limit(SLOWEST)
            .toList();
    text.format("%n  SLOWEST SINGLE CALLS%n");
    for (Call call : slowest) {
      surroundings(call);
    }
  }

  private void surroundings(Call slow) {
    List<Call> like = calls.all().stream().filter(call -> call.id() == slow.id()).toList();
    text.format(
        "  %,10.2f ms  %s, call %d of %d, %.3f s after the first record, process %d, thread %d%n",
        slow.nanos() / NANOS_PER_MILLI,
        CallIds.name(slow.id()),
        like.indexOf(slow) + 1,
        like.size(),
        (slow.startNanos() - calls.firstNanos()) / NANOS_PER_SECOND,
        slow.pid(),
        slow.tid());
    Map<String, Long> meanwhile =
        calls.all().stream()
            .filter(call -> call.pid() == slow.pid() && !call.equals(slow))
            .filter(
                call ->
                    call.startNanos() >= slow.startNanos() && call.startNanos() < slow.endNanos())
            .collect(
                Collectors.groupingBy(
                    call -> CallIds.name(call.id()), TreeMap::new, Collectors.counting()));
    text.format(
        "%16safter %s; meanwhile in the process: %s; then %s%n",
        "",
        neighbour(slow, true),
        meanwhile.isEmpty() ? "no call" : meanwhile.toString().replaceAll("[{}]", ""),
        neighbour(slow, false));
  }

  /** Describes the previous or the next call of the same thread. */
  private String neighbour(Call slow, boolean before) {
    List<Call> thread =
        calls.all().stream()
            .filter(call -> call.tid() == slow.tid() && call.pid() == slow.pid())
            .filter(
                call ->
                    before
                        ? call.endNanos() <= slow.startNanos()
                        : call.startNanos() >= slow.endNanos())
            .toList();
    if (thread.isEmpty()) {
      return "nothing";
    }
    Call next = before ? thread.getLast() : thread.getFirst();
    long apart = before ? slow.startNanos() - next.endNanos() : next.startNanos() - slow.endNanos();
    return "%s (%,.1f us), %,.1f us apart"
        .formatted(
            CallIds.name(next.id()), next.nanos() / NANOS_PER_MICRO, apart / NANOS_PER_MICRO);
  }

  private void profile(int bucketMillis) {
    Set<Long> ids = new TreeSet<>();
    Map<Long, Map<Long, Long>> buckets = new TreeMap<>();
    for (Call call : calls.all()) {
      ids.add(call.id());
      long bucket = (call.startNanos() - calls.firstNanos()) / (bucketMillis * 1_000_000L);
      buckets.computeIfAbsent(bucket, key -> new TreeMap<>()).merge(call.id(), 1L, Long::sum);
    }
    text.format("%n  CALLS THAT BEGAN IN EACH %d ms%n  %8s", bucketMillis, "s");
    ids.forEach(id -> text.format(" %s", CallIds.name(id)));
    text.format("%n");
    buckets.forEach(
        (bucket, counts) -> {
          text.format("  %8.3f", bucket * bucketMillis / 1e3);
          for (long id : ids) {
            text.format(" %" + CallIds.name(id).length() + "d", counts.getOrDefault(id, 0L));
          }
          text.format("%n");
        });
  }

  private void compare(Calls after) {
    text.format("  %-26s %24s %30s %24s%n", "", "CALLS", "TOTAL ms", "P50 us");
    text.format(
        "  %-26s %10s %10s %6s %12s %12s %6s %10s %10s %6s%n",
        "CALL", "before", "after", "x", "before", "after", "x", "before", "after", "x");
    Set<Long> ids = new TreeSet<>(calls.byId().keySet());
    ids.addAll(after.byId().keySet());
    Statistics none = new Statistics();
    for (long id : ids) {
      Statistics a = calls.byId().getOrDefault(id, none);
      Statistics b = after.byId().getOrDefault(id, none);
      text.format(
          "  %-26s %,10d %,10d %6s %,12.2f %,12.2f %6s %,10.1f %,10.1f %6s%n",
          CallIds.name(id),
          a.count(),
          b.count(),
          ratio(a.count(), b.count()),
          a.sumNanos / NANOS_PER_MILLI,
          b.sumNanos / NANOS_PER_MILLI,
          ratio(a.sumNanos, b.sumNanos),
          a.quantile(0.5) / NANOS_PER_MICRO,
          b.quantile(0.5) / NANOS_PER_MICRO,
          ratio(a.quantile(0.5), b.quantile(0.5)));
    }
    compareTimes(
        "between calls",
        calls.wallNanos() - calls.coveredNanos(),
        after.wallNanos() - after.coveredNanos());
    compareTimes("wall", calls.wallNanos(), after.wallNanos());
  }

  private void compareTimes(String name, long before, long after) {
    text.format(
        "  %-26s %28s %,12.2f %,12.2f %6s%n",
        name, "", before / NANOS_PER_MILLI, after / NANOS_PER_MILLI, ratio(before, after));
  }

  private static String ratio(long before, long after) {
    return before == 0 ? "-" : "%.2f".formatted((double) after / before);
  }
}
