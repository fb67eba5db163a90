package io.inferspan.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.demo.DeskClient.Trace;
import io.inferspan.testing.SpanRecord;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Each process of the stack killed in turn under load: the others go on, a trace says where it
 * broke, and the desk lists that trace soon.
 *
 * <p>What is dead stays dead, so there are two orders, in which each has its own effect.
 */
class KillTest {

  private static final int LOAD = 10;
  private static final long LISTED_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final List<String> died = new CopyOnWriteArrayList<>();
  private final List<String> killed = new ArrayList<>();
  private Stack stack;
  private DeskClient desk;
  private GatewayClient client;
  private Load load;

  @BeforeEach
  void start() throws Exception {
    Programs programs = new Programs(StackTest.ROOT, false);
    assumeTrue(programs.missing().isEmpty(), "not built yet: " + programs.missing());
    stack = Stack.start(programs, child -> died.add(child.obituary()));
    stack.awaitServing(ready -> {});
    stack.awaitWatching(ready -> {});
    desk = new DeskClient(stack.page());
    client = new GatewayClient(stack.gatewayUrl());
    client.warmUp();
    load = new Load(client, LOAD);
    awaitAnswers(LOAD);
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (load != null) {
      load.close();
    }
    if (stack != null) {
      stack.close();
    }
  }

  @Test
  void firstPods_agent_andGateway() throws Exception {
    if (stack.withoutKernel().isEmpty()) {
      kill(Stack.AGENT, span -> true);
      awaitAnswers(LOAD);
    }
    kill("vllm-prefill-1", failed(PdSpans.PREFILL.name(SpanNaming.PROPOSAL)));
    awaitAnswers(LOAD);
    kill("vllm-decode-1", failed(PdSpans.DECODE.name(SpanNaming.PROPOSAL)));
    awaitAnswers(LOAD);
    kill("pd-sidecar-1", failed(GatewaySpans.ATTEMPT.name(SpanNaming.PROPOSAL)));
    awaitAnswers(LOAD);
    kill("gateway", span -> span.serviceName().equals("llm-d-pd-proxy"));
  }

  @Test
  void secondPods_andDesk() throws Exception {
    kill("vllm-prefill-2", failed(PdSpans.PREFILL.name(SpanNaming.PROPOSAL)));
    awaitAnswers(LOAD);
    kill("vllm-decode-2", failed(PdSpans.DECODE.name(SpanNaming.PROPOSAL)));
    awaitAnswers(LOAD);
    kill("pd-sidecar-2", failed(GatewaySpans.ATTEMPT.name(SpanNaming.PROPOSAL)));
    awaitAnswers(LOAD);
    Child page = child("desk");
    destroy(page);
    awaitAnswers(LOAD);
    assertTheOthersLive();
  }

  private static Predicate<SpanRecord> failed(String name) {
    return span -> span.isError() && span.name().equals(name);
  }

  private void kill(String name, Predicate<SpanRecord> evidence) throws Exception {
    double since = System.currentTimeMillis();
    long before = System.nanoTime();
    destroy(child(name));
    if (!name.equals(Stack.AGENT)) {
      awaitListed(name, since, before, evidence);
    }
    assertTheOthersLive();
    long end = System.nanoTime() + SOON_NANOS;
    while (died.stream().noneMatch(told -> told.startsWith(name + " has ended, killed by signal 9"))
        && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    assertThat(died).anyMatch(told -> told.startsWith(name + " has ended, killed by signal 9"));
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

  /** A trace that was under way at the kill, or began after it, and is not well. */
  private void awaitListed(
      String name, double since, long beforeNanos, Predicate<SpanRecord> evidence)
      throws IOException, InterruptedException {
    String seen = "nothing";
    while (System.nanoTime() - beforeNanos < LISTED_NANOS) {
      for (JsonObject summary : desk.search("q=")) {
        double end = summary.getDouble("startMs", 0.0) + summary.getDouble("durationMs", 0.0);
        if (end < since || "ok".equals(summary.getString("status"))) {
          continue;
        }
        Trace trace = desk.trace(summary.getString("traceId"));
        seen = trace.status() + ": " + trace.why();
        boolean rootless = trace.spans().stream().noneMatch(SpanRecord::isRoot);
        if (trace.spans().stream().anyMatch(evidence) && (rootless || !name.equals("gateway"))) {
          System.out.printf(
              "%s: listed after %d ms: %s%n",
              name, (System.nanoTime() - beforeNanos) / 1_000_000, seen);
          return;
        }
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    assertThat(seen).as("a trace that says that %s broke, after 2 s", name).isEqualTo("listed");
  }

  private void assertTheOthersLive() {
    assertThat(stack.children())
        .filteredOn(child -> !killed.contains(child.name()))
        .filteredOn(child -> !isAgentThatCannotBe(child))
        .allMatch(Child::isAlive);
  }

  private boolean isAgentThatCannotBe(Child child) {
    return child.name().equals(Stack.AGENT) && !stack.withoutKernel().isEmpty();
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
