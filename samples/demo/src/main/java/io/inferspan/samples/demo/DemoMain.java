package io.inferspan.samples.demo;

import io.inferspan.samples.demo.DeskClient.Trace;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;

/**
 * The main program: starts the stack, sends the requests of each {@link Scenario}, prints their
 * traces, and runs until Ctrl-C.
 */
public final class DemoMain {

  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  /** The time without new spans after which a trace is complete; processes export every 50 ms. */
  private static final Duration QUIET = Duration.ofMillis(200);

  private static final Duration TRACE_LIMIT = Duration.ofSeconds(3);

  /** The number of lines at the start of an explanation that repeat what the tree shows. */
  private static final int SKIPPED_LINES = 2;

  private final Options options;
  private final Programs programs;
  private final PrintStream out;
  private final PrintStream progress;
  private int played;
  private volatile boolean ending;

  private DemoMain(Options options, PrintStream out, PrintStream progress) {
    this.options = options;
    this.programs = new Programs(Path.of(""), options.learn());
    this.out = out;
    this.progress = progress;
  }

  /**
   * Runs the demo. The working directory must be the root of the repository. Exits with status 0
   * for success, 2 for invalid arguments, and 1 for other failures.
   */
  public static void main(String[] arguments) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    PrintStream err = new PrintStream(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(List.of(arguments), out, err));
  }

  static int run(List<String> arguments, PrintStream out, PrintStream err) {
    if (arguments.contains("--help")) {
      out.print(Options.HELP);
      return 0;
    }
    try {
      new DemoMain(Options.parse(arguments), out, err).play();
      return 0;
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return WRONG_USAGE;
    } catch (IOException | IllegalStateException e) {
      err.println("The demo failed: " + e.getMessage());
      return FAILED;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return FAILED;
    }
  }

  private void play() throws IOException, InterruptedException {
    List<Path> missing = programs.missing();
    if (!missing.isEmpty()) {
      throw new IllegalStateException("Not built: " + missing + "; run ./demo, which builds them");
    }
    long start = System.nanoTime();
    try (Stack stack = Stack.start(programs, child -> progress.println(child.exitMessage()))) {
      // Ctrl-C reaches the children too, but a plain kill reaches this process only.
      Runtime.getRuntime().addShutdownHook(new Thread(() -> end(stack), "demo-end"));
      play(stack, start);
    } catch (IOException | IllegalStateException e) {
      // The demo is terminating its processes, so this is not a failure.
      if (!ending) {
        throw e;
      }
    }
  }

  private void end(Stack stack) {
    ending = true;
    stack.close();
  }

  private void play(Stack stack, long start) throws IOException, InterruptedException {
    progress.print("starting");
    stack.awaitServing(name -> progress.print(" " + name));
    DeskClient desk = new DeskClient(stack.page());
    GatewayClient client = new GatewayClient(stack.gatewayUrl());
    // Meanwhile, the agent loads its BPF programs, which these requests do not need.
    client.warmUp(GatewayClient.WARM_UP_ROUNDS);
    stack.awaitAgent(name -> progress.print(" " + name));
    progress.println(seconds(start));
    String requiredService = stack.whyNoKernelSpans().isEmpty() ? Stack.AGENT_SERVICE : "";
    for (Scenario scenario : Scenario.values()) {
      play(scenario, client, desk, requiredService);
      if (played == 1) {
        progress.println("(the first tree came after" + seconds(start) + ")");
      }
    }
    shareSteps(stack, desk);
    remarks(stack);
    if (!options.once()) {
      stay(stack, client);
    }
  }

  private void play(
      Scenario scenario, GatewayClient client, DeskClient desk, String requiredService)
      throws IOException, InterruptedException {
    String id = "demo-" + scenario.name().toLowerCase(Locale.ROOT).replace('_', '-');
    client.send(scenario.request(id));
    Trace trace = awaitTrace(desk, id, each -> each.engineSpansHaveSiblings(requiredService));
    Report report = new Report(trace);
    played++;
    if (!options.learn()) {
      out.printf(Locale.ROOT, "%n%d. %s%n%n%s", played, scenario.about(), report.tree());
      out.println("→ " + report.why());
    }
  }

  private static Trace awaitTrace(DeskClient desk, String id, Predicate<Trace> isComplete)
      throws IOException, InterruptedException {
    Trace trace = desk.await(id, isComplete, QUIET, TRACE_LIMIT);
    if (trace == null) {
      throw new IllegalStateException("the trace desk received no spans of the request " + id);
    }
    return trace;
  }

  /** Sends two requests at once. Only the agent can report the engine steps that they share. */
  private void shareSteps(Stack stack, DeskClient desk) throws IOException, InterruptedException {
    if (!stack.whyNoKernelSpans().isEmpty() || !stack.hasBatchEngine()) {
      return;
    }
    GatewayClient client = new GatewayClient(stack.batchGatewayUrl());
    String id = "demo-shared-batch";
    client.sendAtOnce(
        List.of(BatchEngine.request(id, 60), BatchEngine.request("demo-heavy-prompt", 600)));
    Trace trace = awaitTrace(desk, id, Trace::hasBatchSpans);
    played++;
    if (!options.learn()) {
      out.printf("%n%d. two requests in the same steps of one engine%n%n", played);
      out.print(new Report(trace).tree());
      desk.explain(id).stream().skip(SKIPPED_LINES).forEach(out::println);
    }
  }

  private void remarks(Stack stack) {
    out.println();
    if (!stack.whyNoKernelSpans().isEmpty()) {
      out.println("Without kernel spans: " + stack.whyNoKernelSpans());
    }
    if (!stack.whyNoCudaSpans().isEmpty()) {
      out.println("Without CUDA spans: " + stack.whyNoCudaSpans());
    } else if (stack.whyNoKernelSpans().isEmpty() && !stack.hasBatchEngine()) {
      out.println(
          "Skipped the two requests that share a batch. To install the packages that they need: "
              + BatchEngine.INSTALL);
    }
  }

  private void stay(Stack stack, GatewayClient client) throws IOException, InterruptedException {
    coldStart(stack);
    out.println("All traces with all spans: " + stack.page());
    out.println("To send your own request:");
    out.println("  curl " + stack.gatewayUrl() + "/v1/chat/completions \\");
    out.println("    -H 'content-type: application/json' \\");
    out.println(
        """
            -d '{"model":"demo","messages":[{"role":"user","content":"hello"}]}'\
        """);
    if (options.load() > 0) {
      out.println("Now sending " + options.load() + " requests per second.");
    }
    out.println("Ctrl-C stops the demo.");
    if (options.load() == 0) {
      new CountDownLatch(1).await();
    }
    try (Load _ = new Load(client, options.load())) {
      new CountDownLatch(1).await();
    }
  }

  /**
   * Starts an engine under the agent's command {@code coldstart}. A failure is reported in one
   * line, because the rest of the demo does not depend on it.
   */
  private void coldStart(Stack stack) throws IOException, InterruptedException {
    if (!stack.whyNoKernelSpans().isEmpty()) {
      return;
    }
    try {
      String trace = stack.coldStart();
      out.println(
          "The start of an engine, with its timeline: " + stack.page() + "#/trace/" + trace);
    } catch (IllegalStateException e) {
      String why = String.valueOf(e.getMessage()).strip();
      String last = why.substring(why.lastIndexOf('\n') + 1).strip();
      out.println("Cannot observe the start of an engine: " + last);
    }
  }

  private static String seconds(long sinceNanos) {
    return String.format(Locale.ROOT, " %.1f s", (System.nanoTime() - sinceNanos) / 1e9);
  }
}
