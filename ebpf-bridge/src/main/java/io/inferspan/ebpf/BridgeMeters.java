package io.inferspan.ebpf;

import io.inferspan.ebpf.kernel.KernelLoss;
import io.inferspan.ebpf.kernel.ProgramState;
import io.inferspan.ebpf.metrics.EbpfMeters;
import io.micrometer.core.instrument.MeterRegistry;

/** Hands a bridge's numbers to its meters; apart, since Micrometer need not be there. */
final class BridgeMeters {

  private BridgeMeters() {}

  static EbpfMeters bind(LiveBridge bridge, MeterRegistry registry) {
    EbpfMeters meters = new EbpfMeters(bridge.sink(), bridge.reader(), bridge::backlogBytes);
    for (KernelLoss reason : KernelLoss.values()) {
      meters.kernelDrop(reason.word(), () -> bridge.counters().lost(reason));
    }
    for (Mishap mishap : Mishap.values()) {
      meters.failure(mishap.word(), () -> bridge.count(mishap));
    }
    meters.sleep(bridge.vigil()::isAsleep, bridge.vigil()::sleeps);
    for (ProgramState program : bridge.programs()) {
      add(meters, program, bridge);
    }
    meters.bindTo(registry);
    return meters;
  }

  private static void add(EbpfMeters meters, ProgramState program, LiveBridge bridge) {
    String name = program.object() + "/" + program.name();
    meters.probe(name, () -> program.inPlace() && !bridge.isClosed());
    if (program.inPlace()) {
      meters.program(name, () -> bridge.now(program).runs(), () -> bridge.now(program).runNanos());
    }
  }
}
