package io.inferspan.ebpf;

import io.inferspan.Telemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.io.FileInputStream;
import java.io.IOException;
import java.time.Duration;

/**
 * A program whose bridge sleeps until a sampled span is current on one of its threads; it prints
 * each step.
 */
final class SleepingProcess {

  static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final int UNSAMPLED_READS = 1_000;
  private static final BridgeStatus.Sleep SLEPT_TWICE = new BridgeStatus.Sleep(true, 2);

  private SleepingProcess() {}

  public static void main(String[] arguments) throws Exception {
    Telemetry telemetry = Telemetry.initTracing();
    EbpfBridge bridge =
        EbpfBridge.attach(
            telemetry,
            BridgeConfig.builder()
                .scope(BridgeScope.own())
                .sleepAfter(Duration.ofMillis(1))
                .build());
    Eventually.is("sleep", () -> isAsleep(bridge));
    System.out.println("asleep");
    for (int i = 0; i < UNSAMPLED_READS; i++) {
      read(TraceFlags.getDefault());
    }
    System.out.println("unsampled " + isAsleep(bridge) + " " + bridge.status().sleep().times());
    // Shorter than the interval of the check, which is one second.
    read(TraceFlags.getSampled());
    Eventually.is("waking", () -> !isAsleep(bridge) || bridge.status().sleep().times() > 1);
    System.out.println("woken");
    Eventually.is("sleep again", () -> bridge.status().sleep().equals(SLEPT_TWICE));
    System.out.println("asleep again");
    System.in.read();
    bridge.close();
    telemetry.close();
    System.exit(0);
  }

  private static boolean isAsleep(EbpfBridge bridge) {
    return bridge.status().sleep().asleep();
  }

  private static void read(TraceFlags flags) throws IOException {
    SpanContext ids = SpanContext.create(TRACE, SPAN, flags, TraceState.getDefault());
    try (FileInputStream zeros = new FileInputStream("/dev/zero");
        Scope scope = Context.root().with(Span.wrap(ids)).makeCurrent()) {
      zeros.readNBytes(1);
    }
  }
}
