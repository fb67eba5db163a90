package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.demo.DeskClient.Trace;
import io.inferspan.samples.demo.engine.Behaviour;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.testing.SpanRecord;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Kills each process of the stack in turn under load: the others continue, a trace shows where it
 * failed, and the desk lists that trace soon.
 *
 * <p>Killed processes are not restarted. Therefore each test kills a few processes, in an order in
 * which the effect of each kill shows.
 */
class KillIT {

  private static final int LOAD = 4;
  private static final int WARM_UPS = 20;

  /** Requests other than those of the load, whose prompts are in the caches. */
  private static final long FIRST_WARM_UP = 500;

  private static final int AT_ONCE = 8;
  private static final int DECODED_ONLY = 1;
  private static final int PREFILLED_ELSEWHERE = 0;

  private static final String HOST = "127.0.0.1:";
  private static final String GATEWAY = "llm-gateway";
  private static final String PROXY = "llm-d-pd-proxy";
  private static final long LISTED_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final List<String> exitMessages = new CopyOnWriteArrayList<>();
  private final List<String> killed = new ArrayList<>();
  private Stack stack;
  private DeskClient desk;
  private GatewayClient client;
  private Load load;
  private HttpClient http;
  private long more;

  @BeforeEach
  void start() throws Exception {
    Programs programs = new Programs(StackIT.ROOT, false);
    assumeTrue(programs.missing().isEmpty(), "not built yet: " + programs.missing());
    stack = Stack.start(programs, child -> exitMessages.add(child.exitMessage()));
    stack.awaitServing(ready -> {});
    stack.awaitAgent(ready -> {});
    desk = new DeskClient(stack.page());
    client = new GatewayClient(stack.gatewayUrl());
    http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    client.warmUp(GatewayClient.WARM_UP_ROUNDS);
    warmUp();
    load = new Load(client, LOAD);
    awaitAnswers(LOAD);
    for (JsonObject summary : desk.search("limit=5")) {
      desk.trace(summary.getString("traceId"));
    }
  }

  /** Sends requests to warm up the stack and this process: new JVMs are slow. */
  private void warmUp() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(LOAD)) {
      List<Callable<Integer>> requests =
          LongStream.range(FIRST_WARM_UP, FIRST_WARM_UP + WARM_UPS)
              .<Callable<Integer>>mapToObj(i -> () -> client.send(Scenario.forLoad("warm-" + i, i)))
              .toList();
      for (Future<Integer> status : threads.invokeAll(requests)) {
        assertThat(status.get()).isEqualTo(200);
      }
    }
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (http != null) {
      http.shutdownNow();
    }
    if (load != null) {
      load.close();
    }
    if (stack != null) {
      stack.close();
    }
  }

  @Test
  void agent_prefiller_sidecar_andGateway() throws Exception {
    if (stack.whyNoKernelSpans().isEmpty()) {
      // The agent's spans have no children, so no trace is broken without them.
      destroy(child(Stack.AGENT));
      awaitExitMessage(Stack.AGENT);
      awaitAnswers(LOAD);
    }
    killPrefiller(0);
    awaitAnswers(LOAD);
    killSidecar(0);
    awaitAnswers(LOAD);
    kill("gateway", KillIT::isWithoutGateway, KillIT::lacksTheGateway);
  }

  @Test
  void prefiller_decoder_andDesk() throws Exception {
    killPrefiller(1);
    awaitAnswers(LOAD);
    killDecoder(1);
    awaitAnswers(LOAD);
    destroy(child("desk"));
    awaitExitMessage("desk");
    awaitAnswers(LOAD);
    assertOthersAreAlive();
  }

  /** After both kills, each pod lacks its decoder or its sidecar. */
  @Test
  void decoder_andSidecarOfTheOtherPod() throws Exception {
    killDecoder(0);
    awaitAnswers(LOAD);
    killSidecar(1);
  }

  private void killSidecar(int number) throws Exception {
    int port = stack.ports().sidecars().get(number);
    kill(
        sidecar(number),
        listed -> listed.failed(GatewaySpans.ATTEMPT, GATEWAY) || isAborted(listed),
        trace -> lacksTheSidecar(trace, port));
  }

  private void killPrefiller(int number) throws Exception {
    String target = HOST + stack.ports().prefillers().get(number);
    kill(
        "vllm-prefill-" + (number + 1),
        listed -> listed.failed(PdSpans.PREFILL, PROXY),
        trace -> named(trace, PdSpans.REQUEST).anyMatch(span -> target.equals(target(span))));
  }

  /** Sends concurrent requests with long answers; returns when each has its first token. */
  private List<CompletableFuture<HttpResponse<InputStream>>> sendLongRequests(int kind) {
    List<CompletableFuture<HttpResponse<InputStream>>> asked = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      long number = 1_000 + 4L * more++ + kind;
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(stack.gatewayUrl() + "/v1/chat/completions"))
              .header("content-type", "application/json")
              .header(Behaviour.HEADER, Behaviour.LONG_ANSWER.value())
              .POST(BodyPublishers.ofString(Scenario.forLoad("more-" + number, number).body()))
              .build();
      asked.add(http.sendAsync(request, BodyHandlers.ofInputStream()));
    }
    return asked;
  }

  /** Sends requests until all decoders work: cached prompts go to one pod until it is busier. */
  private List<CompletableFuture<HttpResponse<InputStream>>> sendUntilAllWork() throws Exception {
    List<CompletableFuture<HttpResponse<InputStream>>> asked = new ArrayList<>();
    long end = System.nanoTime() + SOON_NANOS;
    while (!everyDecoderStreams()) {
      assertThat(System.nanoTime()).as("one of the decoders is idle").isLessThan(end);
      List<CompletableFuture<HttpResponse<InputStream>>> more = sendLongRequests(DECODED_ONLY);
      for (CompletableFuture<?> each : more) {
        each.get(SOON_NANOS, TimeUnit.NANOSECONDS);
      }
      asked.addAll(more);
    }
    return asked;
  }

  private boolean everyDecoderStreams() throws IOException, InterruptedException {
    for (int number = 0; number < Ports.PODS; number++) {
      boolean whole = !killed.contains(decoder(number)) && !killed.contains(sidecar(number));
      if (whole && !streams(stack.ports().decoders().get(number))) {
        return false;
      }
    }
    return true;
  }

  private boolean streams(int port) throws IOException, InterruptedException {
    URI metrics = URI.create("http://" + HOST + port + "/metrics");
    return http.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith("vllm:num_requests_running"))
        .anyMatch(line -> !line.endsWith(" 0.0"));
  }

  private static String sidecar(int number) {
    return "pd-sidecar-" + (number + 1);
  }

  private static String decoder(int number) {
    return "vllm-decode-" + (number + 1);
  }

  private static void disconnect(List<CompletableFuture<HttpResponse<InputStream>>> asked) {
    for (CompletableFuture<HttpResponse<InputStream>> each : asked) {
      if (!each.cancel(true) && !each.isCompletedExceptionally()) {
        try {
          each.join().body().close();
        } catch (IOException e) {
          // The request had already failed.
        }
      }
    }
  }

  private static @Nullable Object target(SpanRecord span) {
    return span.attribute(PdAttributes.PREFILL_TARGET.key().getKey());
  }

  /** Kills a decoder. A request without remote prefill has no separate span for decode. */
  private void killDecoder(int number) throws Exception {
    String proxy = PROXY + " (" + sidecar(number) + ")";
    kill(
        decoder(number),
        listed ->
            listed.failed(PdSpans.DECODE, proxy)
                || (listed.failed(PdSpans.REQUEST, proxy)
                    && listed.why().endsWith("connection_reset (decode request failed)")),
        trace -> true);
  }

  /** Returns whether the trace shows the failed attempt, or has no span of the sidecar. */
  private static boolean lacksTheSidecar(Trace trace, int port) {
    return new Listed(trace.status(), trace.why()).failed(GatewaySpans.ATTEMPT, GATEWAY)
        ? named(trace, GatewaySpans.ATTEMPT)
            .filter(SpanRecord::isError)
            .anyMatch(span -> Integer.toString(port).equals(port(span)))
        : named(trace, PdSpans.REQUEST).findAny().isEmpty();
  }

  private static boolean isAborted(Listed listed) {
    return listed.failed(GatewaySpans.REQUEST, GATEWAY)
        && listed.why().endsWith("(the engine aborted its response)");
  }

  private static String port(SpanRecord call) {
    return String.valueOf(call.attribute(CommonAttributes.SERVER_PORT.key().getKey()));
  }

  private static boolean isWithoutGateway(Listed listed) {
    String missing = "the parent " + name(GatewaySpans.REQUEST) + " of ";
    return listed.status().equals("broken") && listed.why().contains(missing);
  }

  private static boolean lacksTheGateway(Trace trace) {
    return named(trace, GatewaySpans.REQUEST).findAny().isEmpty()
        && named(trace, PdSpans.REQUEST).findAny().isPresent();
  }

  /** A failed request's status and explanation in the desk's list. */
  private record Listed(String status, String why) {

    boolean failed(SpanType span, String service) {
      return status.equals("error") && why.startsWith("failed in " + name(span) + " on " + service);
    }
  }

  private static Stream<SpanRecord> named(Trace trace, SpanType type) {
    return trace.spans().stream().filter(span -> span.name().equals(name(type)));
  }

  private static String name(SpanType type) {
    return type.name(SpanNaming.PROPOSAL);
  }

  /** Kills a process, and waits until the list and then the spans of a trace show it. */
  private void kill(String name, Predicate<Listed> listed, Predicate<Trace> traced)
      throws Exception {
    List<CompletableFuture<HttpResponse<InputStream>>> asked = sendUntilAllWork();
    double since = System.currentTimeMillis();
    long before = System.nanoTime();
    destroy(child(name));
    asked.addAll(sendLongRequests(PREFILLED_ELSEWHERE));
    awaitListed(name, since, before, listed, traced);
    disconnect(asked);
    awaitExitMessage(name);
    assertOthersAreAlive();
  }

  /** Waits until the demo reports that this process was killed. */
  private void awaitExitMessage(String name) throws InterruptedException {
    long end = System.nanoTime() + SOON_NANOS;
    String killedMessage = name + " has ended, killed by signal 9";
    while (exitMessages.stream().noneMatch(message -> message.startsWith(killedMessage))
        && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    assertThat(exitMessages).anyMatch(message -> message.startsWith(killedMessage));
  }

  private void destroy(Child child) {
    killed.add(child.name());
    ProcessHandle.of(child.pid()).ifPresent(ProcessHandle::destroyForcibly);
  }

  private Child child(String name) {
    return stack.children().stream()
        .filter(child -> child.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Waits until the desk lists a trace that ended after the kill and shows where it failed. */
  private void awaitListed(
      String name, double since, long before, Predicate<Listed> listed, Predicate<Trace> traced)
      throws IOException, InterruptedException {
    Set<JsonObject> seen = new LinkedHashSet<>();
    Set<Listed> failures = new LinkedHashSet<>();
    while (true) {
      List<JsonObject> summaries = new ArrayList<>(desk.search("status=error"));
      summaries.addAll(desk.search("status=broken"));
      long nanos = System.nanoTime() - before;
      assertThat(nanos)
          .as("no trace shows within 2 s that %s was killed; listed: %s", name, failures)
          .isLessThan(LISTED_NANOS);
      for (JsonObject summary : summaries) {
        if (isAfter(since, summary) && seen.add(summary)) {
          Listed now = new Listed(summary.getString("status", ""), summary.getString("why", ""));
          failures.add(now);
          if (listed.test(now) && traced.test(desk.trace(summary.getString("traceId")))) {
            long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
            System.out.printf("%s: listed after %d ms: %s%n", name, millis, now);
            return;
          }
        }
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private static boolean isAfter(double since, JsonObject summary) {
    return summary.getDouble("startMs", 0.0) + summary.getDouble("durationMs", 0.0) >= since;
  }

  private void assertOthersAreAlive() {
    assertThat(stack.children())
        .filteredOn(child -> !killed.contains(child.name()))
        .filteredOn(child -> !isUnsupportedAgent(child))
        .allMatch(Child::isAlive);
  }

  private boolean isUnsupportedAgent(Child child) {
    return child.name().equals(Stack.AGENT) && !stack.whyNoKernelSpans().isEmpty();
  }

  private void awaitAnswers(int more) throws IOException, InterruptedException {
    long wanted = load.answered() + more;
    long end = System.nanoTime() + SOON_NANOS;
    while (load.answered() < wanted) {
      if (System.nanoTime() > end) {
        throw new AssertionError(
            "%d answered, %d failed, without %s; %s"
                .formatted(
                    load.answered(), load.failed(), killed, desk.search("status=error&limit=3")));
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
