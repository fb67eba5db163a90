package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.Eventually;
import io.inferspan.ebpf.cli.top.Top;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.linux.SystemView;
import io.inferspan.ebpf.policy.PolicySlots;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent in a process of its own, and a server that does not know of it. */
class AgentIT {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String OTHER_TRACE = "1af7651916cd43dd8448eb211c80319d";
  private static final String PARENT = "b7ad6b7169203331";
  private static final int TERMINATED = 143;
  private static final Pattern METRICS = Pattern.compile("http://localhost:[0-9]+/metrics");
  private static final Pattern MEASURED =
      Pattern.compile(
          "inferspan_ebpf_program_seconds_count\\{program=\"context/context_sys_exit\"\\} [1-9]");
  private static final String LAUNCHES = "inferspan_ebpf_events_total{kind=\"cuda.launch\"} 3.0";

  private static final Pattern LAUNCHED =
      Pattern.compile("inferspan_ebpf_events_total\\{kind=\"cuda.launch\"\\} [1-9]");

  /** An export interval longer than the test, so that spans arrive only if they are flushed. */
  private static final String NEVER = "600000";

  @TempDir private static Path directory;
  private static KitServer kit;

  @BeforeAll
  static void startServer() {
    TestObjects.assumeBpf();
    kit = KitServer.start(directory);
  }

  @AfterAll
  static void stopServer() {
    if (kit != null) {
      kit.close();
    }
  }

  @Test
  void sigterm_exportsRemainingSpansAndDetaches() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent = agent(receiver, "--pid", Long.toString(kit.server().pid()))) {
      agent.awaitOutput("ready: watching pid:" + kit.server().pid());
      KernelObjects held = KernelObjects.of(agent.pid());
      assertThat(held.alive()).isNotEmpty();
      request(TRACE);

      assertThat(agent.terminate().exitStatus()).as(agent.output()).isEqualTo(TERMINATED);

      List<SpanRecord> spans = receiver.spans();
      assertThat(spans).isNotEmpty();
      assertThat(spans).allSatisfy(span -> assertThat(span.traceId()).isEqualTo(TRACE));
      assertThat(spans).allSatisfy(span -> assertThat(span.parentSpanId()).isEqualTo(PARENT));
      assertThat(names(spans)).contains("cuda.launch").anyMatch(name -> name.startsWith("syscall"));
      assertThat(agent.output()).contains("spans go to " + receiver.endpoint(), "detached: ");
      awaitGone(held);
    }
  }

  @Test
  void killedAgent_leavesNothingAttached() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent = agent(receiver, "--command", "python3")) {
      agent.awaitOutput("ready: ");
      KernelObjects held = KernelObjects.of(agent.pid());
      assertThat(held.links()).hasSizeGreaterThanOrEqualTo(10);
      assertThat(held.alive()).isNotEmpty();

      agent.kill();

      awaitGone(held);
    }
  }

  @Test
  void top_showsTheEventsOfTheAgent() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent = agent(receiver, "--command", "python3")) {
      agent.awaitOutput("ready: ");
      request(TRACE);

      assertThat(topOnce())
          .containsPattern("process " + agent.pid() + "\\), up \\S+, awake")
          .contains("bridge in java (process " + agent.pid() + ")")
          .contains("cuda.launch", "context_sys_ent", "ring: ");
    }
  }

  @Test
  void topAndMetrics_showThatTheAgentIsAsleep() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent =
            agent(
                receiver,
                Map.of("INFERSPAN_EBPF_SLEEP_AFTER", "1ms"),
                "--pid",
                Long.toString(kit.server().pid()),
                "--metrics-port",
                "0")) {
      agent.awaitOutput("ready: ");
      Matcher line = METRICS.matcher(agent.output());
      assertThat(line.find()).as(agent.output()).isTrue();
      Eventually.is("sleep", () -> scrape(line.group()).contains("inferspan_ebpf_asleep 1.0"));

      assertThat(scrape(line.group())).contains("inferspan_ebpf_sleeps_total 1.0");
      assertThat(topOnce()).containsPattern("process " + agent.pid() + "\\), up \\S+, asleep");
    }
  }

  @Test
  void policies_applyToProcessesThatStartLater() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent = agent(receiver, "--policy", "slow-only", "--policy", "latency")) {
      agent.awaitOutput("ready: ");
      assertThatThrownBy(PolicySlots::openOwn)
          .as("the agent's bridge is not this process's")
          .isInstanceOf(BpfException.class);
      try (KitServer later = KitServer.start(directory);
          PolicySlots slots = PolicySlots.open()) {
        assertThat(slots.current())
            .extracting(PolicySlots.Loaded::name)
            .containsExactlyInAnyOrder("slow_only", "latency");
        Eventually.is(
            "a call that the policy decided",
            () -> {
              requestQuietly(later, TRACE);
              return slots.judged() > 0;
            });
        assertThat(policy("list")).containsPattern("kept by the floor of one call in 100\n");
        assertThat(policy("off")).isEqualTo("off: every call is kept\n");
        assertThat(policy("list"))
            .startsWith("no policy: every call is kept\n")
            .containsPattern("[1-9]\\d* calls: .* kept by the floor\n");
      }
    }
  }

  private static String policy(String command) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(EbpfTool.run(Map.of(), printer(out), System.err, "policy", command)).isZero();
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void missingPolicy_endsTheAgent() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent = agent(receiver, "--policy", "slow")) {
      assertThat(agent.exitStatus()).isEqualTo(EbpfTool.FAILED);
      assertThat(agent.output())
          .contains("slow: not a file, and not one of the included policies: keep-all")
          .doesNotContain("Exception", "ready: ");
    }
  }

  private static String topOnce() throws InterruptedException {
    ByteArrayOutputStream page = new ByteArrayOutputStream();
    assertThat(new Top(text -> text, printer(page)).run(true)).isTrue();
    return page.toString(StandardCharsets.UTF_8);
  }

  @Test
  void metricsPort_countsTheEventsOfTheAgent() throws IOException, InterruptedException {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess agent =
            agent(
                receiver,
                "--pid",
                Long.toString(kit.server().pid()),
                "--metrics-port",
                "0",
                "--measure-programs")) {
      agent.awaitOutput("ready: ");
      Matcher line = METRICS.matcher(agent.output());
      assertThat(line.find()).as(agent.output()).isTrue();
      request(TRACE);

      Eventually.is("the launches", () -> scrape(line.group()).contains(LAUNCHES));
      assertThat(scrape(line.group()))
          .contains("inferspan_ebpf_attached{probe=\"context/context_sys_exit\"} 1.0")
          .contains("inferspan_ebpf_events_dropped_total{reason=\"ring_full\"} 0.0")
          .contains("inferspan_ebpf_ring_capacity_bytes 1.6777216E7")
          .containsPattern(MEASURED)
          .contains("inferspan_ebpf_failures_total{where=\"target\"} 0.0")
          .doesNotContain(TRACE);
    }
  }

  @Test
  void cgroup_isTheOnlyOneObserved() throws IOException, InterruptedException {
    Path group = SystemView.cgroupRoot().resolve("inferspan-agent-" + kit.server().pid());
    assumeTrue(Files.exists(SystemView.cgroupRoot().resolve("cgroup.procs")), "needs cgroup v2");
    Files.createDirectory(group);
    try (OtlpReceiver receiver = OtlpReceiver.start();
        KitServer inside = KitServer.start(directory);
        ToolProcess agent = agent(receiver, "--cgroup", group + "/", "--metrics-port", "0")) {
      agent.awaitOutput("ready: ");
      Matcher line = METRICS.matcher(agent.output());
      assertThat(line.find()).as(agent.output()).isTrue();
      // The server has already mapped its libraries, so no event reports them.
      Files.writeString(group.resolve("cgroup.procs"), Long.toString(inside.server().pid()));
      request(TRACE);
      Eventually.is(
          "a launch",
          () -> {
            requestQuietly(inside, OTHER_TRACE);
            return LAUNCHED.matcher(scrape(line.group())).find();
          });

      assertThat(agent.terminate().exitStatus()).as(agent.output()).isEqualTo(TERMINATED);

      assertThat(receiver.spans()).isNotEmpty();
      assertThat(receiver.spans())
          .allSatisfy(span -> assertThat(span.traceId()).isEqualTo(OTHER_TRACE));
      assertThat(names(receiver.spans())).contains("cuda.launch");
    } finally {
      Eventually.is("the group is empty", () -> group.toFile().delete());
    }
  }

  private static String scrape(String address) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create(address)).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Test
  void ordinaryUser_seesTheRemedy() throws InterruptedException {
    List<String> unprivileged =
        List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all");
    try (ToolProcess agent = ToolProcess.start(directory, Map.of(), unprivileged, "agent");
        ToolProcess doctor = ToolProcess.start(directory, Map.of(), unprivileged, "doctor");
        ToolProcess top = ToolProcess.start(directory, Map.of(), unprivileged, "top", "--once")) {
      assertThat(agent.exitStatus()).isEqualTo(EbpfTool.FAILED);
      assertThat(agent.output())
          .startsWith("nothing can be attached: privileges: neither CAP_BPF with CAP_PERFMON")
          .contains("run as root, or with CAP_BPF and CAP_PERFMON")
          .doesNotContain("Exception");

      assertThat(doctor.exitStatus()).isEqualTo(EbpfTool.FAILED);
      assertThat(doctor.output())
          .contains("The bridge cannot observe kernel events on this machine");

      assertThat(top.exitStatus()).isEqualTo(EbpfTool.FAILED);
      assertThat(top.output()).contains("CAP_SYS_ADMIN").doesNotContain("Exception");
    }
  }

  /** The kernel unloads a program without references when its readers are done. */
  private static void awaitGone(KernelObjects held) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!held.alive().isEmpty()) {
      assertThat(System.nanoTime()).as("still loaded: %s", held.alive()).isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static PrintStream printer(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  private static ToolProcess agent(OtlpReceiver receiver, String... targets) {
    return agent(receiver, Map.of(), targets);
  }

  private static ToolProcess agent(
      OtlpReceiver receiver, Map<String, String> settings, String... targets) {
    Map<String, String> environment = new HashMap<>(settings);
    environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint());
    environment.put("OTEL_BSP_SCHEDULE_DELAY", NEVER);
    String[] arguments = new String[targets.length + 1];
    arguments[0] = "agent";
    System.arraycopy(targets, 0, arguments, 1, targets.length);
    return ToolProcess.start(directory, environment, List.of(), arguments);
  }

  private static void request(String trace) throws IOException, InterruptedException {
    request(kit, trace);
  }

  private static void requestQuietly(KitServer server, String trace) {
    try {
      request(server, trace);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static void request(KitServer server, String trace)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/infer"))
            .version(HttpClient.Version.HTTP_1_1)
            .header("traceparent", "00-" + trace + "-" + PARENT + "-01")
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      assertThat(client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode())
          .isEqualTo(200);
    }
  }

  private static List<String> names(List<SpanRecord> spans) {
    return spans.stream().map(SpanRecord::name).distinct().collect(Collectors.toList());
  }
}
