package io.inferspan.ebpf.live;

import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.BridgeStatus.Detail;
import io.inferspan.ebpf.BridgeStatus.Events;
import io.inferspan.ebpf.BridgeStatus.Flow;
import io.inferspan.ebpf.BridgeStatus.Library;
import io.inferspan.ebpf.BridgeStatus.Program;
import io.inferspan.ebpf.BridgeStatus.Ring;
import io.inferspan.ebpf.BridgeStatus.Sleep;
import io.inferspan.ebpf.BridgeStatus.Spans;
import io.inferspan.ebpf.kernel.ContextCount;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.spans.SpanAccounting;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads the status of a bridge. */
public final class StatusReader {

  private final LiveBridge bridge;
  private final SpanAccounting accounting;

  private StatusReader(LiveBridge bridge) {
    this.bridge = bridge;
    this.accounting = bridge.sink().accounting();
  }

  /** Returns the current status of a bridge. */
  public static BridgeStatus read(LiveBridge bridge) {
    StatusReader reader = new StatusReader(bridge);
    return new BridgeStatus(
        reader.programs(),
        reader.libraries(),
        reader.events(),
        reader.losses(),
        reader.contexts(),
        reader.flow(),
        reader.failures(),
        new Sleep(bridge.idle().isAsleep(), bridge.idle().sleeps()),
        reader.detail());
  }

  private List<Detail> detail() {
    DetailLevels levels = bridge.detail().now();
    return Arrays.stream(EventClass.values())
        .map(
            events ->
                new Detail(events.word(), levels.of(events).word(), bridge.counters().shed(events)))
        .toList();
  }

  private List<Program> programs() {
    return bridge.programs().stream()
        .map(
            state ->
                new Program(
                    state.object(),
                    state.name(),
                    state.inPlace(),
                    state.problem(),
                    state.runs(),
                    state.runNanos()))
        .toList();
  }

  private List<Library> libraries() {
    return bridge.libraries().stream()
        .map(library -> new Library(library.outcome(), library.processes()))
        .toList();
  }

  private List<Events> events() {
    List<Events> events = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      // Read before the produced events, so that the difference is never negative.
      long read = accounting.consumed(kind);
      long produced = bridge.counters().produced(kind);
      if (produced > 0 || read > 0) {
        events.add(new Events(KernelCounters.nameOf(kind), produced, read));
      }
    }
    return events;
  }

  private Map<String, Long> losses() {
    Map<String, Long> losses = new LinkedHashMap<>();
    for (KernelLoss reason : KernelLoss.values()) {
      losses.put("kernel." + reason.word(), bridge.counters().lost(reason));
    }
    for (SpanAccounting.Drop reason : SpanAccounting.Drop.values()) {
      losses.put(reason.name().toLowerCase(Locale.ROOT), accounting.dropped(reason));
    }
    return losses;
  }

  private Map<String, Long> contexts() {
    Map<String, Long> contexts = new LinkedHashMap<>();
    for (ContextCount what : ContextCount.values()) {
      contexts.put(what.word(), bridge.counters().count(what));
    }
    return contexts;
  }

  private Map<String, Long> failures() {
    Map<String, Long> failures = new LinkedHashMap<>();
    for (Failure failure : Failure.values()) {
      failures.put(failure.word(), bridge.count(failure));
    }
    return failures;
  }

  private Flow flow() {
    return new Flow(ring(), spans(), bridge.sink().openRequests(), bridge.ownThreadCount());
  }

  private Ring ring() {
    long lagNanos = bridge.isClosed() ? 0 : bridge.sink().lagNanos();
    return new Ring(bridge.backlogBytes(), bridge.reader().capacityBytes(), lagNanos);
  }

  private Spans spans() {
    return new Spans(
        accounting.emitted(),
        accounting.folded(),
        accounting.folds(),
        accounting.control(),
        accounting.held());
  }
}
