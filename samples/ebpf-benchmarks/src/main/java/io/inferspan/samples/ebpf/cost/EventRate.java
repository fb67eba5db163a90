package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.BridgeStatus;
import java.util.Map;
import java.util.TreeMap;

/**
 * Measures the events per second that the bridge reads while two threads produce events at full
 * speed, and checks that all events are accounted for.
 */
final class EventRate {

  private static final String READ = "syscall.read";
  private static final double BAR_PER_SECOND = 800_000;
  private static final double BAR_PRODUCED_PER_SECOND = 500_000;
  private static final double BAR_TO_BPFTRACE = 10;

  private final Kit kit;

  EventRate(Kit kit) {
    this.kit = kit;
  }

  void measure(double seconds, Report report) {
    double theirs = bpftrace(Math.min(seconds, 5));
    report.say("%nbpftrace, printing a line per event: %,.0f lines per second", theirs);
    double ours = bridge(seconds, report);
    report.atLeast(
        "events received per second, relative to bpftrace", ours / theirs, BAR_TO_BPFTRACE);
  }

  private double bpftrace(double seconds) {
    try (Bpftrace peer = Bpftrace.printingReads()) {
      Kit.Load load = kit.read(seconds);
      return peer.lines() / load.seconds();
    }
  }

  private double bridge(double seconds, Report report) {
    Process keeper = kit.keeper();
    Bridge bridge = Bridge.attach("load");
    Kit.Load load;
    try {
      kit.read(1); // warm-up: the reader is slow until it is compiled
      BridgeStatus before = bridge.status();
      load = kit.read(seconds);
      bridge.close();
      BridgeStatus after = bridge.status();
      account(after, report);
      return rates(load, before, after, report);
    } finally {
      bridge.close();
      Kit.end(keeper);
    }
  }

  private static double rates(
      Kit.Load load, BridgeStatus before, BridgeStatus after, Report report) {
    long produced = produced(after, READ) - produced(before, READ);
    double read = (read(after) - read(before)) / load.seconds();
    report.say(
        "the bridge: %,d calls of read, %,d events produced, %,.0f events received per second, for"
            + " %.1f s",
        load.calls(), produced, read, load.seconds());
    report.atLeast("events received per second", read, BAR_PER_SECOND);
    report.atLeast(
        "events produced per second", produced / load.seconds(), BAR_PRODUCED_PER_SECOND);
    report.atMost(
        "calls of read without an event, or events without a call",
        (double) Math.abs(load.calls() - produced),
        0);
    return read;
  }

  /**
   * Checks that each event was emitted as a span, folded into a span, used by the bridge itself
   * (control events, which report requests, processes and libraries), held until its span is
   * complete, or counted as lost.
   */
  private static void account(BridgeStatus status, Report report) {
    long produced = status.events().stream().mapToLong(BridgeStatus.Events::produced).sum();
    BridgeStatus.Spans spans = status.flow().spans();
    long emitted = spans.emitted();
    long known = emitted + spans.folded() + spans.control() + spans.held() + status.lost();
    report.say(
        "events: %,d produced = %,d emitted + %,d folded into %,d spans + %,d control + %,d held"
            + " + %,d lost %s",
        produced,
        emitted,
        spans.folded(),
        spans.folds(),
        spans.control(),
        spans.held(),
        status.lost(),
        reasons(status));
    report.atMost("events unaccounted for", (double) Math.abs(produced - known), 0);
  }

  private static Map<String, Long> reasons(BridgeStatus status) {
    Map<String, Long> reasons = new TreeMap<>(status.losses());
    reasons.values().removeIf(count -> count == 0);
    return reasons;
  }

  private static long produced(BridgeStatus status, String kind) {
    return status.events().stream()
        .filter(events -> events.kind().equals(kind))
        .mapToLong(BridgeStatus.Events::produced)
        .sum();
  }

  private static long read(BridgeStatus status) {
    return status.events().stream().mapToLong(BridgeStatus.Events::read).sum();
  }
}
