package io.inferspan.samples.demo;

import static io.inferspan.samples.demo.Ports.PODS;

import io.inferspan.samples.demo.Child.Plan;
import io.inferspan.samples.demo.Programs.Jar;
import io.inferspan.samples.demo.engine.EngineMain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All processes of the demo: a trace desk, a gateway, two P/D sidecars in front of two decode
 * engines, two prefill engines, a batch engine (which runs several requests in one step) with its
 * own gateway, and the eBPF agent. The batch engine and the agent run only if the machine supports
 * them.
 */
final class Stack implements AutoCloseable {

  static final String AGENT = "ebpf-agent";

  /** The agent's service name. Its spans arrive last, after the request has ended. */
  static final String AGENT_SERVICE = "inferspan-ebpf-agent";

  private static final String LIBRARY_PATH = "LD_LIBRARY_PATH";

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration END_LIMIT = Duration.ofSeconds(5);

  /** The time limit for processes that write an AOT cache when they end, which takes seconds. */
  private static final Duration LEARNED_LIMIT = Duration.ofSeconds(90);

  private static final String HOST = "127.0.0.1";

  private final Programs programs;
  private final Ports ports;
  private final ParentWatch parentWatch = ParentWatch.ofThisMachine();
  private final Consumer<Child> died;
  private final List<Child> needed = new CopyOnWriteArrayList<>();
  private volatile @Nullable Child agent;
  private String whyNoKernelSpans = "";
  private boolean hasBatchEngine;

  private Stack(Programs programs, Ports ports, Consumer<Child> died) {
    this.programs = programs;
    this.ports = ports;
    this.died = died;
  }

  /**
   * Starts all processes at once.
   *
   * <p>The calling thread must live as long as the demo, because the processes end with it.
   *
   * @param died called with a process that ends before the demo does
   */
  static Stack start(Programs programs, Consumer<Child> died) throws IOException {
    Stack stack = new Stack(programs, Ports.free(), died);
    try {
      stack.startAll();
    } catch (IOException e) {
      stack.close();
      throw e;
    }
    return stack;
  }

  private void startAll() throws IOException {
    start(needed, desk());
    List<Child> engines = new ArrayList<>();
    for (int i = 0; i < PODS; i++) {
      start(engines, engine("vllm-prefill", i, ports.prefillers(), ports.kvEvents().get(PODS + i)));
      start(engines, engine("vllm-decode", i, ports.decoders(), ports.kvEvents().get(i)));
    }
    Path cuda = programs.cuda();
    hasBatchEngine = cuda != null && BatchEngine.isInstalled();
    if (cuda != null && hasBatchEngine) {
      start(engines, BatchEngine.plan(programs.root(), ports.batchEngine(), cuda));
      start(needed, batchGateway());
    }
    needed.addAll(engines);
    for (int i = 0; i < PODS; i++) {
      start(needed, sidecar(i));
    }
    start(needed, gateway());
    agent = Child.start(agent(engines), parentWatch, died);
  }

  private void start(List<Child> into, Plan plan) throws IOException {
    into.add(Child.start(plan, parentWatch, died));
  }

  /**
   * Waits until all processes that requests need are ready.
   *
   * @param ready called with the name of each process that is ready
   */
  void awaitServing(Consumer<String> ready) throws InterruptedException {
    for (Child child : needed) {
      child.awaitReady(START_LIMIT);
      ready.accept(child.name());
    }
  }

  /**
   * Waits until the agent is ready, or has reported why it cannot run.
   *
   * @param ready called with the agent's name when it is ready
   */
  void awaitAgent(Consumer<String> ready) throws InterruptedException {
    Child started = agent;
    if (started == null) {
      return;
    }
    try {
      started.awaitReady(START_LIMIT);
      ready.accept(started.name());
    } catch (IllegalStateException e) {
      List<String> lines = started.lastLines();
      whyNoKernelSpans = lines.isEmpty() ? "the agent has ended without a message" : lines.get(0);
    }
  }

  /** Returns in one line why there are no kernel spans; empty if there are some. */
  String whyNoKernelSpans() {
    return whyNoKernelSpans;
  }

  /**
   * Returns in one line why there are no CUDA spans although there are kernel spans; else empty.
   */
  String whyNoCudaSpans() {
    if (!whyNoKernelSpans.isEmpty()) {
      return "";
    }
    return programs.cuda() == null ? "there is no C compiler to build the CUDA stand-in" : "";
  }

  /** Returns whether the batch engine runs. */
  boolean hasBatchEngine() {
    return hasBatchEngine;
  }

  /** Returns the base URL of the batch engine's gateway. */
  String batchGatewayUrl() {
    return "http://" + HOST + ":" + ports.batchGateway();
  }

  /**
   * Starts another engine under the agent's command {@code coldstart}, which ends it when it
   * serves.
   *
   * @return the trace id of the start, which the desk shows with its timeline
   * @throws IllegalStateException if the start was not recorded; the message contains the last
   *     lines of output
   */
  String coldStart() throws IOException, InterruptedException {
    Path calls = Files.createTempFile("inferspan-demo-", ".jsonl");
    Path timeline = Path.of(calls.toString().replace(".jsonl", ".html"));
    Child start = Child.start(coldStart(calls), parentWatch, died);
    try {
      String line = start.awaitReady(START_LIMIT);
      start.awaitEnd(START_LIMIT);
      return line.substring(line.lastIndexOf(' ') + 1);
    } finally {
      start.terminate();
      start.awaitEnd(END_LIMIT);
      Files.deleteIfExists(calls);
      Files.deleteIfExists(timeline);
    }
  }

  private Plan coldStart(Path calls) {
    Plan engine = engine("vllm-start", 0, List.of(0), 0);
    List<String> arguments =
        new ArrayList<>(List.of("coldstart", "--stop", "--ready-log", EngineMain.SERVES));
    arguments.addAll(List.of("--out", calls.toString(), "--desk", page(), "--"));
    arguments.addAll(parentWatch.wrap(engine.command()));
    Map<String, String> environment = new HashMap<>(engine.environment());
    environment.put("FAKE_CUDA_SCRIPT", EngineMain.START_TIMES);
    environment.put("OTEL_SERVICE_NAME", AGENT_SERVICE);
    Path cuda = programs.cuda();
    if (cuda != null) {
      // With this path, coldstart finds the library before the engine loads it, and misses no call.
      String inherited = System.getenv(LIBRARY_PATH);
      boolean alone = inherited == null || inherited.isEmpty();
      environment.put(LIBRARY_PATH, cuda.getParent() + (alone ? "" : ":" + inherited));
    }
    return new Plan("cold-start", programs.run(Jar.AGENT, arguments), environment, ", trace ");
  }

  /** Returns the URL of the page. */
  String page() {
    return "http://" + HOST + ":" + ports.page() + "/";
  }

  /** Returns the gateway's base URL. */
  String gatewayUrl() {
    return "http://" + HOST + ":" + ports.gateway();
  }

  /** Returns the ports of all processes. */
  Ports ports() {
    return ports;
  }

  /** Returns all processes, in the order of their start. */
  List<Child> children() {
    Child started = agent;
    return Stream.concat(needed.stream(), Stream.ofNullable(started)).toList();
  }

  private Plan desk() {
    return new Plan(
        "desk",
        programs.run(
            Jar.DESK,
            List.of(
                "--port=" + ports.page(),
                "--otlp-grpc-port=" + ports.otlpGrpc(),
                "--otlp-http-port=" + ports.otlpHttp(),
                "--max-spans=200000")),
        Map.of(),
        "desk: http");
  }

  private Plan engine(String kind, int number, List<Integer> at, int kvPort) {
    String name = kind + "-" + (number + 1);
    List<String> arguments = new ArrayList<>();
    arguments.add("--name=" + name);
    arguments.add("--port=" + at.get(number));
    arguments.add("--kv-port=" + kvPort);
    Map<String, String> environment = tracing(name);
    Path cuda = programs.cuda();
    if (cuda != null) {
      arguments.add("--cuda=" + cuda);
      environment.put("FAKE_CUDA_KERNEL", EngineMain.KERNEL_TIME);
    }
    return new Plan(name, programs.run(EngineMain.class, arguments), environment, EngineMain.READY);
  }

  private Plan sidecar(int number) {
    String name = "pd-sidecar-" + (number + 1);
    Map<String, String> environment = tracing("llm-d-pd-proxy");
    environment.put("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=" + name);
    return new Plan(
        name,
        programs.run(
            Jar.SIDECAR,
            List.of(
                "--port=" + ports.sidecars().get(number),
                "--model-server-port=" + ports.decoders().get(number),
                "--secure-proxy=false",
                "--event-loops=1",
                "--shutdown-timeout=1s",
                "--tracing")),
        environment,
        "listening on http");
  }

  private Plan gateway() {
    return new Plan(
        "gateway",
        programs.run(
            Jar.GATEWAY,
            List.of(
                "--host=" + HOST,
                "--port=" + ports.gateway(),
                "--metrics-port=none",
                "--event-loops=1",
                "--decode=" + list(ports.sidecars()),
                "--prefill=" + list(ports.prefillers()),
                "--kv-events=" + list(ports.kvEvents()))),
        tracing("llm-gateway"),
        "Listening on");
  }

  private Plan batchGateway() {
    return new Plan(
        "gateway-batch",
        programs.run(
            Jar.GATEWAY,
            List.of(
                "--host=" + HOST,
                "--port=" + ports.batchGateway(),
                "--metrics-port=none",
                "--event-loops=1",
                "--decode=" + HOST + ":" + ports.batchEngine())),
        tracing("llm-gateway"),
        "Listening on");
  }

  private Plan agent(List<Child> engines) {
    String pids =
        engines.stream().map(e -> Long.toString(e.pid())).collect(Collectors.joining(","));
    return new Plan(
        AGENT,
        programs.run(Jar.AGENT, List.of("agent", "--pid", pids)),
        tracing(AGENT_SERVICE),
        "ready: watching");
  }

  private static String list(List<Integer> ports) {
    return ports.stream().map(port -> HOST + ":" + port).collect(Collectors.joining(","));
  }

  /** Returns the environment that samples all requests and exports spans every 50 ms. */
  private Map<String, String> tracing(String service) {
    Map<String, String> environment = new HashMap<>();
    environment.put("OTEL_SERVICE_NAME", service);
    environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", "http://" + HOST + ":" + ports.otlpGrpc());
    environment.put("OTEL_TRACES_SAMPLER", "parentbased_always_on");
    environment.put("OTEL_BSP_SCHEDULE_DELAY", "50");
    return environment;
  }

  /** Ends all processes at once, and kills processes that take too long. */
  @Override
  public void close() {
    Duration limit = programs.learn() ? LEARNED_LIMIT : END_LIMIT;
    long until = System.nanoTime() + limit.toNanos();
    children().forEach(Child::terminate);
    for (Child child : children()) {
      try {
        child.awaitEnd(Duration.ofNanos(until - System.nanoTime()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
