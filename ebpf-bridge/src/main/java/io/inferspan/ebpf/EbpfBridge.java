package io.inferspan.ebpf;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryExtension;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.ring.RingThread;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bridge between a telemetry and the kernel: what threads do for a sampled request becomes
 * children of the request's span.
 *
 * <p>It never breaks the program that it is part of. Where the kernel cannot be asked, {@link
 * #support()} says why, one line of the log says so too, and everything else does nothing. What is
 * there only in part is {@link Prerequisite.State#LIMITED}, and the rest works.
 */
public final class EbpfBridge implements TelemetryExtension.Metered {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final String REPORT = "report this with the output of doctor";

  private final EbpfSupport support;
  private final BridgeConfig config;
  private final @Nullable LiveBridge live;
  private final List<Object> meters = new ArrayList<>();

  private EbpfBridge(EbpfSupport support, BridgeConfig config, @Nullable LiveBridge live) {
    this.support = support;
    this.config = config;
    this.live = live;
  }

  /**
   * Begins to watch as {@code config} says, and writes spans to {@code telemetry}. Never throws.
   */
  public static EbpfBridge attach(Telemetry telemetry, BridgeConfig config) {
    return attach(telemetry, config, RingThread::start);
  }

  static EbpfBridge attach(
      Telemetry telemetry, BridgeConfig config, LiveBridge.RingStart ringStart) {
    EbpfBridge bridge;
    try {
      bridge = tryToAttach(telemetry, config, ringStart);
    } catch (RuntimeException | Error refused) {
      LOGGER.log(Level.DEBUG, "The eBPF bridge could not start", refused);
      bridge = without(unavailable(refused), config);
    }
    bridge.sayHowItStands();
    return bridge;
  }

  private static EbpfBridge tryToAttach(
      Telemetry telemetry, BridgeConfig config, LiveBridge.RingStart ringStart) {
    EbpfSupport support = EbpfSupport.check();
    if (support instanceof EbpfSupport.Available available) {
      LiveBridge live = LiveBridge.start(telemetry, config, ringStart);
      return new EbpfBridge(limited(available, live), config, live);
    }
    return without(support, config);
  }

  private static EbpfBridge without(EbpfSupport support, BridgeConfig config) {
    return new EbpfBridge(support, config, null);
  }

  private static EbpfSupport.Unavailable unavailable(Throwable refused) {
    if (refused instanceof BpfException bpf && !bpf.remedy().isEmpty()) {
      return new EbpfSupport.Unavailable(bpf.reason(), bpf.remedy(), List.of());
    }
    String reason = refused.getMessage() == null ? refused.toString() : refused.getMessage();
    return new EbpfSupport.Unavailable(reason, REPORT, List.of());
  }

  /** What the machine can do, and what of it was not to be had after all. */
  private static EbpfSupport limited(EbpfSupport.Available machine, LiveBridge live) {
    List<Prerequisite> all = new ArrayList<>(machine.prerequisites());
    live.programs().stream()
        .filter(program -> !program.inPlace())
        .map(
            program ->
                Prerequisite.limited(
                    "program " + program.object() + "/" + program.name(), program.problem(), ""))
        .forEach(all::add);
    live.limits().stream()
        .map(limit -> Prerequisite.limited("bridge", limit, ""))
        .forEach(all::add);
    return new EbpfSupport.Available(all);
  }

  private void sayHowItStands() {
    switch (support) {
      case EbpfSupport.Unavailable none ->
          LOGGER.log(
              Level.WARNING,
              "The eBPF bridge is off, the rest goes on: " + none.reason() + ": " + none.remedy());
      case EbpfSupport.Available some ->
          LOGGER.log(Level.INFO, "The eBPF bridge watches" + butFor(some));
    }
  }

  private static String butFor(EbpfSupport.Available some) {
    List<String> limits =
        some.prerequisites().stream()
            .filter(one -> one.state() == Prerequisite.State.LIMITED)
            .map(one -> one.name() + ": " + one.found())
            .toList();
    return limits.isEmpty() ? "" : ", within limits: " + String.join("; ", limits);
  }

  /** Whether it watches, and why not. */
  public EbpfSupport support() {
    return support;
  }

  /** How it stands now; asks the kernel for some hundred numbers. */
  public BridgeStatus status() {
    LiveBridge current = live;
    return current == null ? BridgeStatus.none() : StatusReader.read(current);
  }

  /** Registers the bridge's own meters; they last as long as the bridge. */
  @Override
  public void bindTo(MeterRegistry registry) {
    LiveBridge current = live;
    if (current != null) {
      meters.add(BridgeMeters.bind(current, registry));
    }
  }

  /** Writes what is gathered and detaches, within the bound of the config; idempotent. */
  @Override
  public void close() {
    LiveBridge current = live;
    if (current != null) {
      current.close(config.closeTimeout());
    }
  }
}
