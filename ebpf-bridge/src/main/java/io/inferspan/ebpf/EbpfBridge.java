package io.inferspan.ebpf;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryExtension;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.live.BridgeMeters;
import io.inferspan.ebpf.live.LiveBridge;
import io.inferspan.ebpf.live.StatusReader;
import io.inferspan.ebpf.ring.EventHandler;
import io.inferspan.ebpf.ring.RingThread;
import io.inferspan.ebpf.wire.EventView;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Records kernel and CUDA events of sampled requests as child spans of these requests.
 *
 * <p>The bridge never makes its application fail. If the machine does not support it, {@link
 * #support()} returns the reason, one line is logged, and all other methods do nothing. If a
 * prerequisite is {@link Prerequisite.State#LIMITED}, only some events are missing.
 */
public final class EbpfBridge implements TelemetryExtension.Metered {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final String REPORT = "report this with the output of the command doctor";

  private static final TextMapGetter<String> TRACEPARENT =
      new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable String traceparent, String key) {
          return key.equals("traceparent") ? traceparent : null;
        }
      };

  private final EbpfSupport support;
  private final BridgeConfig config;
  private final @Nullable LiveBridge live;
  private final List<Object> meters = new ArrayList<>();

  private EbpfBridge(EbpfSupport support, BridgeConfig config, @Nullable LiveBridge live) {
    this.support = support;
    this.config = config;
    this.live = live;
  }

  /** Starts a bridge that writes spans to {@code telemetry}. Never throws. */
  public static EbpfBridge attach(Telemetry telemetry, BridgeConfig config) {
    return attach(telemetry, config, RingThread::start);
  }

  /**
   * Starts a bridge whose {@code observer} receives each event before it becomes a span, on the
   * ring's thread. For other packages of this module.
   */
  public static EbpfBridge attachObserved(
      Telemetry telemetry, BridgeConfig config, Consumer<EventView> observer) {
    return attach(
        telemetry,
        config,
        (reader, handler, readiness) ->
            RingThread.start(reader, new ObservedEvents(observer, handler), readiness));
  }

  private record ObservedEvents(Consumer<EventView> observer, EventHandler handler)
      implements EventHandler {

    @Override
    public void event(EventView view) {
      observer.accept(view);
      handler.event(view);
    }

    @Override
    public boolean isAtRest() {
      return handler.isAtRest();
    }

    @Override
    public void drained() {
      handler.drained();
    }
  }

  static EbpfBridge attach(
      Telemetry telemetry, BridgeConfig config, LiveBridge.RingStart ringStart) {
    EbpfBridge bridge;
    try {
      bridge = tryToAttach(telemetry, config, ringStart);
    } catch (RuntimeException | Error failure) {
      LOGGER.log(Level.DEBUG, "The eBPF bridge could not start", failure);
      bridge = without(unavailable(failure), config);
    }
    bridge.logSupport();
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

  private static EbpfSupport.Unavailable unavailable(Throwable failure) {
    if (failure instanceof BpfException bpf && !bpf.remedy().isEmpty()) {
      return new EbpfSupport.Unavailable(bpf.reason(), bpf.remedy(), List.of());
    }
    String reason = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    return new EbpfSupport.Unavailable(reason, REPORT, List.of());
  }

  /** Returns the machine's support, limited by what failed to load or attach. */
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

  private void logSupport() {
    switch (support) {
      case EbpfSupport.Unavailable none ->
          LOGGER.log(
              Level.WARNING,
              "The eBPF bridge is off; everything else works. "
                  + none.reason()
                  + ": "
                  + none.remedy());
      case EbpfSupport.Available some ->
          LOGGER.log(Level.INFO, "The eBPF bridge is attached" + limitations(some));
    }
  }

  private static String limitations(EbpfSupport.Available some) {
    List<String> limits =
        some.prerequisites().stream()
            .filter(one -> one.state() == Prerequisite.State.LIMITED)
            .map(one -> one.name() + ": " + one.found())
            .toList();
    return limits.isEmpty() ? "" : ", with limitations: " + String.join("; ", limits);
  }

  /** Returns whether the bridge works on this machine, and the reason if it does not. */
  public EbpfSupport support() {
    return support;
  }

  /**
   * Returns the current status; makes more than a hundred system calls to read the kernel's
   * counters.
   */
  public BridgeStatus status() {
    LiveBridge current = live;
    return current == null ? BridgeStatus.none() : StatusReader.read(current);
  }

  /**
   * Attributes a process and its descendants, existing and future, to a span until the adoption is
   * closed or the last of them exits. Requests that they serve keep their own spans. An unsampled
   * {@code traceparent} has no effect.
   *
   * @param pid the process, as numbered in this process's {@code /proc}
   * @throws IllegalArgumentException if the traceparent is invalid
   */
  public Adoption adopt(int pid, String traceparent) {
    SpanContext span = parse(traceparent);
    LiveBridge current = live;
    if (current == null || !span.isSampled()) {
      return new Adoption(null, 0);
    }
    return new Adoption(current.adopted(), current.adopted().adopt(pid, span));
  }

  private static SpanContext parse(String traceparent) {
    Context context =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), traceparent, TRACEPARENT);
    SpanContext span = Span.fromContext(context).getSpanContext();
    if (!span.isValid()) {
      throw new IllegalArgumentException(
          "traceparent is invalid: W3C Trace Context requires version-traceid-spanid-flags");
    }
    return span;
  }

  /** Registers the bridge's meters, which last as long as the bridge. */
  @Override
  public void bindTo(MeterRegistry registry) {
    LiveBridge current = live;
    if (current != null) {
      meters.add(BridgeMeters.bind(current, registry));
    }
  }

  /** Writes pending spans and detaches, within the configured timeout if possible. Idempotent. */
  @Override
  public void close() {
    LiveBridge current = live;
    if (current != null) {
      current.close(config.closeTimeout());
    }
  }
}
