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
 * The main program: starts the stack, sends the requests of each {@link Scene}, prints their
 * traces, and runs until Ctrl-C.
 */
public final class DemoMain {

  private static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  /** The time without new spans after which a trace is complete; processes export every 50 ms. */
  private static final Duration QUIET = Duration.ofMillis(200);

  private static final Duration TRACE_LIMIT = Duration.ofSeconds(3);

  /**
   * The number of lines to skip in an explanation: they describe the whole request, as the tree
   * does.
   */
  private static final int EXPLAINED_BEFORE = 2;

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
   * Runs in the root of the repository. The exit status is 0 for success, 2 for invalid arguments,
   * else 1.
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
      throw new IllegalStateException(missing + " is not built; run ./demo, which builds it");
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
    // The agent loads its programs during these requests, which do not need them.
    client.warmUp(GatewayClient.WARM_UP_ROUNDS);
    stack.awaitWatching(name -> progress.print(" " + name));
    progress.println(seconds(start));
    String lastService = stack.withoutKernel().isEmpty() ? Stack.AGENT_SERVICE : "";
    for (Scene scene : Scene.values()) {
      play(scene, client, desk, lastService);
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

  private void play(Scene scene, GatewayClient client, DeskClient desk, String lastService)
      throws IOException, InterruptedException {
    String id = "demo-" + scene.name().toLowerCase(Locale.ROOT).replace('_', '-');
    client.ask(scene.question(id));
    Trace trace = whole(desk, id, each -> each.hasSiblingsOfEngines(lastService));
    Report report = new Report(trace);
    played++;
    if (!options.learn()) {
      out.printf(Locale.ROOT, "%n%d. %s%n%n%s", played, scene.about(), report.tree());
      out.println("→ " + report.why());
    }
  }

  private static Trace whole(DeskClient desk, String id, Predicate<Trace> isWhole)
      throws IOException, InterruptedException {
    Trace trace = desk.await(id, isWhole, QUIET, TRACE_LIMIT);
    if (trace == null) {
      throw new IllegalStateException("the desk has not received a trace of " + id);
    }
    return trace;
  }

  /** Sends two requests at once, whose shared steps only the agent can report. */
  private void shareSteps(Stack stack, DeskClient desk) throws IOException, InterruptedException {
    if (!stack.withoutKernel().isEmpty() || !stack.hasBatchEngine()) {
      return;
    }
    GatewayClient client = new GatewayClient(stack.batchGatewayUrl());
    String id = "demo-shared-batch";
    client.askAtOnce(
        List.of(BatchEngine.question(id, 60), BatchEngine.question("demo-heavy-prompt", 600)));
    Trace trace = whole(desk, id, Trace::hasPartInSteps);
    played++;
    if (!options.learn()) {
      out.printf("%n%d. two requests in the same steps of one engine%n%n", played);
      out.print(new Report(trace).tree());
      desk.explain(id).stream().skip(EXPLAINED_BEFORE).forEach(out::println);
    }
  }

  private void remarks(Stack stack) {
    out.println();
    if (!stack.withoutKernel().isEmpty()) {
      out.println("Without kernel spans: " + stack.withoutKernel());
    }
    if (!stack.withoutCuda().isEmpty()) {
      out.println("Without CUDA spans: " + stack.withoutCuda());
    } else if (stack.withoutKernel().isEmpty() && !stack.hasBatchEngine()) {
      out.println(
          "The requests that share a batch are left out. To install what they need: "
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
   * Starts an engine under {@code coldstart}. A failure is reported in one line, because the rest
   * of the demo does not depend on it.
   */
  private void coldStart(Stack stack) throws IOException, InterruptedException {
    if (!stack.withoutKernel().isEmpty()) {
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
