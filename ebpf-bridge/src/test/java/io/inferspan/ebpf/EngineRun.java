package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.testing.Canary;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One run of a stand-in engine under a bridge: the steps that it ran, and its spans. */
final class EngineRun {

  static final int LONG_ANSWER = 300;
  private static final int SMALL_RING = 64 << 10;
  private static final String STALLED = "--stalled";

  /** The request that runs alone before the others if a profiler is used. */
  private static final String FIRST = "r1000000";

  /** A marker in the body and the trace state of each request. */
  static final Canary CANARY = Canary.random();

  /** A token in each prompt: "c4n4". */
  static final int CANARY_TOKEN = 0x6334_6e34;

  /**
   * The requests of clients.
   *
   * @param oneUnsampledOf one request in this many is not sampled; 1 if all are sampled
   * @param aborts the share of clients that leave before the end
   */
  record Load(int requests, int concurrent, int oneUnsampledOf, double aborts, long seed) {

    boolean isSampled(String name) {
      return oneUnsampledOf == 1 || Long.parseLong(name.substring(1)) % oneUnsampledOf != 0;
    }
  }

  /**
   * A step as the engine ran it on one rank, with the tokens and device time of each request, by
   * its name.
   */
  record Ran(
      long pid,
      long rank,
      long step,
      long beganNanos,
      long endedNanos,
      long launches,
      Map<String, Long> tokens,
      Map<String, Long> costs,
      Set<String> prefills) {}

  /** The requests that got tokens in a step, and when it was done. */
  record Outputs(long step, long atNanos, Set<String> requests) {}

  /** An option of this class: the engine has no plugin. */
  static final String NO_PLUGIN = "--no-plugin";

  /** An option of this class: the requests of the engine have trace headers. */
  static final String TRACING = "--tracing";

  /** An option of this class: a profiler in the engine reads CUPTI's records. */
  static final String CUPTI = "--cupti";

  /** An option of this class: run the second engine, which shares no code with the first. */
  static final String PLAIN = "--plain";

  final Load load;
  final Set<String> requests = new HashSet<>();
  List<SpanRecord> spans = List.of();
  List<Ran> truth = List.of();
  List<Outputs> outputs = List.of();
  List<byte[]> exported = List.of();
  long lost;
  final Map<String, Long> counters = new HashMap<>();
  long unsent;

  private EngineRun(Load load) {
    this.load = load;
  }

  /** Starts an engine, sends the load, and ends it. */
  static EngineRun of(Load load, BridgeConfig config, List<String> options) throws Exception {
    EngineRun run = new EngineRun(load);
    Path kit = TestKit.directory();
    TestKit.assumeEngine();
    Path written = TestKit.scratch("truth");
    List<String> command = new ArrayList<>(List.of("/usr/bin/python3"));
    boolean plain = options.contains(PLAIN);
    command.add(TestKit.script(plain ? "engine/plain" : "engine/engine").toString());
    command.addAll(List.of("--truth", written.toString(), "--libraries", kit.toString()));
    boolean plugin = !options.contains(NO_PLUGIN);
    command.addAll(options);
    command.removeAll(List.of(PLAIN, NO_PLUGIN, CUPTI, STALLED));
    if (!plain) {
      command.remove(TRACING);
    }
    boolean cupti = options.contains(CUPTI);
    Map<String, String> environment = new HashMap<>(plugin ? environment(kit) : Map.of());
    if (options.contains(TRACING)) {
      environment.put("STANDIN_TRACING", "1");
    }
    if (cupti) {
      environment.put("LD_PRELOAD", kit.resolve("libcupti.so.13").toString());
    }
    try (OtlpReceiver receiver = OtlpReceiver.start();
        Telemetry telemetry = telemetry(receiver)) {
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      EbpfBridge bridge = EbpfBridge.attach(telemetry, config);
      bridge.bindTo(registry);
      try (bridge;
          JavaChild engine = JavaChild.start(command, environment)) {
        int port = Integer.parseInt(engine.line());
        TestKit.awaitLibrary(bridge, "libcuda.so.1");
        if (plugin) {
          TestKit.awaitLibrary(bridge, "libinferspan_ckp.so");
        }
        if (cupti) {
          TestKit.awaitLibrary(bridge, "libcupti.so.13");
          run.sendBetweenKernels(bridge, port, written);
        } else if (options.contains(STALLED)) {
          run.sendStalled(port);
        } else {
          run.send(port);
        }
        run.lost = bridge.status().lost();
      }
      run.count(registry);
      assertThat(bridge.status().flow().openRequests()).isZero();
      telemetry.close();
      run.unsent = telemetry.spanCounts().dropped().total();
      run.spans = receiver.spans();
      run.exported = receiver.rawBodies();
    }
    run.read(Files.readAllLines(written));
    return run;
  }

  /** As {@link #of}, with a ring that is repeatedly full. */
  static EngineRun stalled(Load load, String... options) throws Exception {
    List<String> all = new ArrayList<>(List.of(options));
    all.add(STALLED);
    return of(load, TestKit.children().ringBytes(SMALL_RING).build(), all);
  }

  /**
   * Sends the load while this process, and so the ring's reader, is stopped for 400 ms at a time.
   * The process is not stopped earlier, because a signal interrupts the kernel's verifier.
   */
  private void sendStalled(int port) throws Exception {
    String loop = "while sleep 0.2; do kill -STOP $0; sleep 0.4; kill -CONT $0; done";
    String pid = Long.toString(ProcessHandle.current().pid());
    Process stalls = new ProcessBuilder("/bin/sh", "-c", loop, pid).start();
    try {
      send(port);
    } finally {
      stalls.destroyForcibly();
    }
  }

  private static Telemetry telemetry(OtlpReceiver receiver) {
    return Telemetry.initTracing(
        TelemetryOptions.builder()
            .closeTimeout(Duration.ofMinutes(1))
            .setting("inferspan.ebpf", "off")
            .setting("otel.exporter.otlp.endpoint", receiver.endpoint())
            .setting("otel.traces.sampler", "always_on")
            .setting("otel.bsp.max.queue.size", "262144")
            .build());
  }

  /** Returns environment variables with which the engine finds the plugin. */
  static Map<String, String> environment(Path kit) throws IOException {
    Path plugin = kit.resolve("plugin");
    Path entry = Files.createDirectories(plugin.resolve("inferspan_vllm-0.dist-info"));
    Files.writeString(
        entry.resolve("entry_points.txt"),
        "[vllm.general_plugins]\ninferspan = inferspan_vllm:register\n");
    return Map.of(
        "INFERSPAN_CKP",
        kit.resolve("libinferspan_ckp.so").toString(),
        "PYTHONPATH",
        plugin + ":" + TestKit.script("../ckp").normalize());
  }

  /** Sends the load once kernel records are read, and waits until all of them are read. */
  private void sendBetweenKernels(EbpfBridge bridge, int port, Path written) throws Exception {
    requests.add(FIRST);
    try (HttpClient client = client()) {
      read(client, request(port, FIRST, 1, 1), Integer.MAX_VALUE);
    }
    TestKit.await("the first kernels", () -> kernels(bridge) > 0);
    send(port);
    read(Files.readAllLines(written));
    long launches = truth.stream().mapToLong(Ran::launches).sum();
    TestKit.await("all kernels", () -> kernels(bridge) >= launches);
  }

  private void count(SimpleMeterRegistry registry) {
    for (FunctionCounter one : registry.find("inferspan.ebpf.engine").functionCounters()) {
      counters.put(String.valueOf(one.getId().getTag("count")), (long) one.count());
    }
  }

  private static long kernels(EbpfBridge bridge) {
    return bridge.status().events().stream()
        .filter(events -> events.kind().equals("control.kernel"))
        .mapToLong(BridgeStatus.Events::read)
        .sum();
  }

  private static HttpClient client() {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  private void send(int port) throws Exception {
    Random random = new Random(load.seed);
    List<Future<?>> asked = new ArrayList<>();
    try (HttpClient client = client();
        ExecutorService clients = Executors.newFixedThreadPool(load.concurrent)) {
      for (int number = 0; number < load.requests; number++) {
        int most = number == 5 ? LONG_ANSWER : 1 + random.nextInt(30);
        int prompt = 1 + random.nextInt(500);
        boolean leaves = number != 5 && random.nextDouble() < load.aborts;
        int read = leaves ? 1 + random.nextInt(most) : Integer.MAX_VALUE;
        requests.add("r" + number);
        HttpRequest request = request(port, "r" + number, prompt, most);
        asked.add(clients.submit(() -> read(client, request, read)));
      }
      for (Future<?> each : asked) {
        each.get();
      }
    }
  }

  /** Reads this number of events of the response, and then closes the connection. */
  private static int read(HttpClient client, HttpRequest request, int events) throws Exception {
    HttpResponse<InputStream> answer = client.send(request, BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).isEqualTo(200);
    int lines = 0;
    try (InputStream body = answer.body()) {
      for (int letter = body.read(); letter >= 0 && lines < events; letter = body.read()) {
        lines += letter == '{' ? 1 : 0;
      }
    }
    return lines;
  }

  private HttpRequest request(int port, String name, int prompt, int most) {
    String body =
        "{\"prompt\": [%s%d], \"max_tokens\": %d, \"stream\": true, \"user\": \"%s\"}"
            .formatted("1,".repeat(prompt - 1), CANARY_TOKEN, most, CANARY.marker());
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
        .timeout(Duration.ofMinutes(2))
        .header("content-type", "application/json")
        .header("x-request-id", name)
        .header("tracestate", "c=" + CANARY.marker())
        .header(
            "traceparent",
            "00-" + trace(name) + "-00000000000000aa-0" + (load.isSampled(name) ? 1 : 0))
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  static String trace(String name) {
    return "%032x".formatted(0x1000 + Long.parseLong(name.substring(1)));
  }

  List<SpanRecord> named(String name) {
    return spans.stream().filter(span -> span.name().equals(name)).toList();
  }

  /**
   * Checks that shares add up to the busy time in each group of steps that have requests in common:
   * a request's spans have only its total share of all its steps.
   */
  void assertSharesAddUp() {
    Map<String, String> groups = new HashMap<>();
    for (SpanRecord span : spans) {
      if (span.name().startsWith("llm_d.engine.step")) {
        String step = span.name().equals("llm_d.engine.step") ? span.spanId() : span.parentSpanId();
        span.links()
            .forEach(link -> groups.put(group(groups, link.traceId()), group(groups, step)));
      }
    }
    Map<String, Long> rest = new HashMap<>();
    named("llm_d.engine.step")
        .forEach(
            span -> rest.merge(group(groups, span.spanId()), nanos(span, "busy.ms"), Long::sum));
    for (SpanRecord span : spans) {
      long share = nanos(span, "llm_d.engine.share_ms");
      rest.merge(group(groups, span.traceId()), -share, Long::sum);
    }
    assertThat(rest.values()).containsOnly(0L);
  }

  private static String group(Map<String, String> groups, String of) {
    String group = of;
    for (String up = groups.get(group); up != null && !up.equals(group); up = groups.get(group)) {
      group = up;
    }
    groups.put(of, group);
    return group;
  }

  static long nanos(SpanRecord span, String attribute) {
    return span.attribute(attribute) instanceof Double millis ? Math.round(millis * 1e6) : 0;
  }

  private void read(List<String> lines) {
    Map<String, String> names = new HashMap<>();
    List<Ran> ran = new ArrayList<>();
    List<Outputs> sent = new ArrayList<>();
    for (String line : lines) {
      if (line.contains("\"kind\":\"request\"")) {
        names.put(text(line, "id"), text(line, "request"));
      }
    }
    for (String line : lines) {
      if (line.contains("\"kind\":\"step\"")) {
        ran.add(
            new Ran(
                number(line, "pid"),
                number(line, "rank"),
                number(line, "step"),
                number(line, "begin_ns"),
                number(line, "end_ns"),
                number(line, "launches"),
                numbers(line, "tokens", names),
                numbers(line, "costs", names),
                names(line, "prefills", names)));
      } else if (line.contains("\"kind\":\"outputs\"")) {
        sent.add(
            new Outputs(number(line, "step"), number(line, "at_ns"), names(line, "ids", names)));
      }
    }
    truth = ran;
    outputs = sent;
  }

  private static Set<String> names(String line, String key, Map<String, String> names) {
    Set<String> found = new HashSet<>();
    Matcher each = Pattern.compile("\"([^\"]+)\"").matcher(part(line, key + "\":\\[([^]]*)]"));
    while (each.find()) {
      found.add(names.get(each.group(1)));
    }
    return found;
  }

  private static Map<String, Long> numbers(String line, String key, Map<String, String> names) {
    Map<String, Long> numbers = new HashMap<>();
    Matcher each =
        Pattern.compile("\"([^\"]+)\":(\\d+)").matcher(part(line, key + "\":\\{([^}]*)}"));
    while (each.find()) {
      numbers.put(names.get(each.group(1)), Long.parseLong(each.group(2)));
    }
    return numbers;
  }

  private static String text(String line, String key) {
    return part(line, "\"" + key + "\":\"([^\"]*)\"");
  }

  private static long number(String line, String key) {
    return Long.parseLong(part(line, "\"" + key + "\":(\\d+)"));
  }

  private static String part(String line, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(line);
    assertThat(matcher.find()).as(line).isTrue();
    return matcher.group(1);
  }
}
