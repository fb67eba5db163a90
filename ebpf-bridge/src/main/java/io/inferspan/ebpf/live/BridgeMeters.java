package io.inferspan.ebpf.live;

import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.kernel.ProgramState;
import io.inferspan.ebpf.metrics.EbpfMeters;
import io.inferspan.ebpf.wire.EventClass;
import io.micrometer.core.instrument.MeterRegistry;

/** Registers a bridge's meters. A separate class, because Micrometer is optional. */
public final class BridgeMeters {

  private BridgeMeters() {}

  /** Registers the meters; keep the result while the registry is in use. */
  public static EbpfMeters bind(LiveBridge bridge, MeterRegistry registry) {
    EbpfMeters meters =
        new EbpfMeters(registry, bridge.sink(), bridge.reader(), bridge::backlogBytes);
    for (KernelLoss reason : KernelLoss.values()) {
      meters.drop(reason.word(), () -> bridge.counters().lost(reason));
    }
    for (PolicyCount outcome : PolicyCount.values()) {
      meters.policy(outcome.word(), () -> bridge.counters().count(outcome));
    }
    for (Failure failure : Failure.values()) {
      meters.failure(failure.word(), () -> bridge.count(failure));
    }
    meters.sleep(bridge.idle()::isAsleep, bridge.idle()::sleeps);
    for (EventClass events : EventClass.values()) {
      meters.detail(
          events.word(),
          () -> bridge.detail().now().of(events).detail(),
          () -> bridge.counters().shed(events));
      meters.next(events.word(), () -> bridge.detail().next(events));
    }
    for (ProgramState program : bridge.programs()) {
      add(meters, program, bridge);
    }
    return meters;
  }

  private static void add(EbpfMeters meters, ProgramState program, LiveBridge bridge) {
    String name = program.object() + "/" + program.name();
    meters.probe(name, () -> !bridge.isClosed() && bridge.now(program).inPlace());
    if (program.inPlace()) {
      meters.program(name, () -> bridge.now(program).runs(), () -> bridge.now(program).runNanos());
    }
  }
}
