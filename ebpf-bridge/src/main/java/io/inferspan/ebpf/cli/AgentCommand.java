package io.inferspan.ebpf.cli;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.policy.Parameters;
import io.inferspan.ebpf.policy.PolicyObject;
import io.inferspan.ebpf.policy.PolicySlots;
import io.inferspan.ebpf.support.Setting;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code agent}: runs a bridge in a process of its own. */
@Command(
    name = "agent",
    description =
        "Traces processes of this machine until SIGTERM; without options, every"
            + " process that receives a request with a traceparent.")
final class AgentCommand extends ToolCommand {

  private static final String SERVICE = "inferspan-ebpf-agent";
  private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

  private static final int NAME_WIDTH = 31;
  private static final int LAST_PORT = 65_535;

  @Option(
      names = "--pid",
      split = ",",
      paramLabel = "N",
      description = "Only these processes and their children.")
  private List<Integer> pids = new ArrayList<>();

  @Option(
      names = "--command",
      paramLabel = "NAME",
      description = "Only processes of this name and their children; may be repeated.")
  private List<String> commands = new ArrayList<>();

  @Option(
      names = "--cgroup",
      paramLabel = "DIRECTORY",
      description = "Only processes of this cgroup (v2), such as a pod's.")
  private @Nullable String cgroup;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description =
          "Load this capture policy or profiler at the start, as policy load does; may be"
              + " repeated. It also applies to processes that start later.")
  private List<String> policies = new ArrayList<>();

  @Option(
      names = "--metrics-port",
      paramLabel = "N",
      description =
          "Serve the agent's own metrics at http://HOST:N/metrics; 0 selects a free port.")
  private @Nullable Integer metricsPort;

  @Option(
      names = "--measure-programs",
      description =
          "Add the run time of each BPF program to the metrics. This costs every BPF"
              + " program of the machine two clock readings per run.")
  private boolean measured;

  /** Returns the list of settings for the help text, in two columns. */
  static String[] footer() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "the OTLP endpoint (http://localhost:4317); other OTEL_* variables apply, too");
    settings.put("OTEL_SERVICE_NAME", "the service name of its spans (" + SERVICE + ")");
    settings.put(
        "OTEL_TRACES_SAMPLER",
        "the sampler of engine steps (one in ten); requests are sampled by their traceparent");
    for (Setting setting : Setting.values()) {
      settings.put(setting.variable(), setting.meaning());
    }
    List<String> lines = new ArrayList<>(List.of("", "Environment:"));
    settings.forEach(
        (name, meaning) -> {
          String column = name;
          for (String line : Prose.lines(meaning, EbpfTool.HELP_WIDTH - NAME_WIDTH - 4)) {
            lines.add(("  %-" + NAME_WIDTH + "s  %s").formatted(column, line.replace("%", "%%")));
            column = "";
          }
        });
    return lines.toArray(String[]::new);
  }

  @Override
  public Integer call() throws InterruptedException, IOException {
    AgentSettings settings = new AgentSettings(scope(), measured, tool().environment);
    BridgeConfig config = bridge(settings);
    MetricsPort metrics = metricsPort == null ? null : openMetrics(metricsPort);
    // Checked before telemetry is created, so that a user without the privileges sees only this
    // message.
    if (EbpfSupport.check() instanceof EbpfSupport.Unavailable none) {
      return unavailable(none, tool().err);
    }
    Telemetry telemetry = Telemetry.initTracing(options(settings).build());
    EbpfBridge bridge = EbpfBridge.attach(telemetry, config);
    if (bridge.support() instanceof EbpfSupport.Unavailable none) {
      bridge.close();
      telemetry.close();
      return unavailable(none, tool().err);
    }
    try {
      loadPolicies();
    } catch (IOException | RuntimeException refused) {
      bridge.close();
      telemetry.close();
      throw refused;
    }
    if (metrics != null) {
      metrics.addBridge(telemetry, bridge);
      tool().err.println("metrics are at http://localhost:" + metrics.port() + "/metrics");
    }
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> stop(telemetry, bridge), "inferspan-shutdown"));
    AgentText.ready(bridge.status(), settings.scope(), settings.destination())
        .forEach(tool().err::println);
    new CountDownLatch(1).await();
    return EbpfTool.DONE;
  }

  private void loadPolicies() throws IOException {
    for (String name : policies) {
      try (PolicySlots slots = PolicySlots.openOwn();
          PolicyObject policy = PolicyCommand.open(name)) {
        slots.swap(policy, Parameters.DEFAULTS, 0);
      }
    }
  }

  /**
   * Returns the options in the syntax of {@code INFERSPAN_EBPF_SCOPE}; empty to use that setting.
   */
  private String scope() {
    requireProcesses(pids);
    List<String> items = new ArrayList<>();
    pids.forEach(pid -> items.add("pid:" + pid));
    for (String command : commands) {
      if (command.isBlank() || command.contains(",") || command.contains("/")) {
        throw wrong("--command " + command + ": must be one name, without a directory");
      }
      items.add("command:" + command);
    }
    if (cgroup != null) {
      // cgroup v1 has no cgroup.controllers.
      if (cgroup.contains(",") || !Files.exists(Path.of(cgroup, "cgroup.controllers"))) {
        throw wrong(
            "--cgroup " + cgroup + ": must be a directory of cgroup v2, below /sys/fs/cgroup");
      }
      items.add("cgroup:" + cgroup);
    }
    return String.join(",", items);
  }

  /** Opens the port before anything is attached: a port in use is a command line error. */
  private MetricsPort openMetrics(int port) {
    requireWithin("--metrics-port", port, 0, LAST_PORT);
    try {
      return MetricsPort.open(port);
    } catch (IOException refused) {
      throw wrong("--metrics-port " + port + ": cannot listen: " + refused.getMessage());
    }
  }

  static TelemetryOptions.Builder options(AgentSettings settings) {
    TelemetryOptions.Builder options =
        TelemetryOptions.builder()
            .serviceName(SERVICE)
            .closeTimeout(FLUSH_TIMEOUT)
            .setting(AgentSettings.QUEUE, settings.queuedSpans())
            .setting(AgentSettings.RESOURCE, settings.resource())
            // The bridge is attached explicitly, with the targets of the command line.
            .setting("inferspan.ebpf", "off");
    settings.sampling().forEach(options::setting);
    return options;
  }

  static int unavailable(EbpfSupport.Unavailable none, PrintStream err) {
    err.println("nothing can be attached: " + none.reason() + "; " + none.remedy());
    err.println("run the command doctor for a list of all prerequisites");
    return EbpfTool.FAILED;
  }

  /** Detaches first, which writes the last spans, and then exports them. */
  private void stop(Telemetry telemetry, EbpfBridge bridge) {
    BridgeStatus last = bridge.status();
    bridge.close();
    telemetry.close();
    tool().err.println(AgentText.ended(last, telemetry.spanCounts()));
  }
}
