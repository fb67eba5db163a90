package io.inferspan.ebpf.cli;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.EbpfSupport;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A bridge without a gateway around it: it watches the processes of a node until it is told to
 * stop.
 */
final class Agent {

  private static final String SERVICE = "inferspan-ebpf-agent";
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

  private final Telemetry telemetry;
  private final EbpfBridge bridge;
  private final PrintStream err;
  private final AtomicBoolean stopped = new AtomicBoolean();

  private Agent(Telemetry telemetry, EbpfBridge bridge, PrintStream err) {
    this.telemetry = telemetry;
    this.bridge = bridge;
    this.err = err;
  }

  /** Runs until the process is told to end; returns the exit status where it cannot run. */
  static int run(Invocation.Agent order, Map<String, String> environment, PrintStream err)
      throws UsageException, InterruptedException {
    AgentSettings settings = new AgentSettings(order, environment);
    BridgeConfig config = settings.bridge();
    // Asked before any telemetry stands: who may not attach needs no exporter, and gets one line.
    if (EbpfSupport.check() instanceof EbpfSupport.Unavailable none) {
      return unavailable(none, err);
    }
    MetricsPort metrics = metricsPort(order);
    Telemetry telemetry = Telemetry.initTracing(options(settings).build());
    EbpfBridge bridge = EbpfBridge.attach(telemetry, config);
    Agent agent = new Agent(telemetry, bridge, err);
    if (bridge.support() instanceof EbpfSupport.Unavailable none) {
      agent.stop();
      return unavailable(none, err);
    }
    if (metrics != null) {
      metrics.addBridge(telemetry, bridge);
      err.println("metrics are at http://localhost:" + metrics.port() + "/metrics");
    }
    Runtime.getRuntime().addShutdownHook(new Thread(agent::stop, "inferspan-shutdown"));
    AgentText.ready(bridge.status(), settings.scope(), settings.destination())
        .forEach(err::println);
    new CountDownLatch(1).await();
    return 0;
  }

  /** Before anything is attached: a port that is another's is a mistake of the command line. */
  private static @Nullable MetricsPort metricsPort(Invocation.Agent order) throws UsageException {
    return order.metricsPort() == Invocation.Agent.NONE
        ? null
        : MetricsPort.open(order.metricsPort());
  }

  static TelemetryOptions.Builder options(AgentSettings settings) {
    TelemetryOptions.Builder options =
        TelemetryOptions.builder()
            .serviceName(SERVICE)
            .closeTimeout(FLUSH_TIMEOUT)
            .setting(AgentSettings.QUEUE, settings.queuedSpans())
            .setting(AgentSettings.RESOURCE, settings.resource())
            // The bridge is attached by hand, with the targets of the command line.
            .setting("inferspan.ebpf", "off");
    settings.sampling().forEach(options::setting);
    return options;
  }

  static int unavailable(EbpfSupport.Unavailable none, PrintStream err) {
    err.println("nothing can be attached: " + none.reason() + "; " + none.remedy());
    err.println("the command doctor lists everything that is needed");
    return EbpfTool.FAILED;
  }

  /** Detaches first, for that writes the last spans, and then sends them. */
  private void stop() {
    if (!stopped.compareAndSet(false, true)) {
      return;
    }
    BridgeStatus last = bridge.status();
    bridge.close();
    telemetry.close();
    if (bridge.support() instanceof EbpfSupport.Available) {
      err.println(AgentText.ended(last, telemetry.spanCounts()));
    }
  }
}
