package io.inferspan.gpucheck;

import io.inferspan.ebpf.flame.FlameHtml;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.stacks.StackRecorder;
import io.inferspan.ebpf.stacks.StackScope;
import io.inferspan.gpucheck.Report.Step;
import io.inferspan.gpucheck.Watching.Calls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Checks the stacks of one request's CUDA calls, between requests with the same calls on the same thread. */
final class FlameGraphStep {

  private static final int CALLS = 2000;
  private static final int HERTZ = 99;
  private static final String COUNTED = "cuda\\.((graph_)?launch|memcpy.*|memset|(stream|event|device)_sync)";
  private static final String LAUNCH = "cuLaunchKernel;-;nothing_[G]";

  private final Bundle bundle;
  private final Path page;

  /** Creates the step, which writes the graph as a page. */
  FlameGraphStep(Bundle bundle, Path page) {
    this.bundle = bundle;
    this.page = page;
  }

  void run(Step step) throws IOException, InterruptedException {
    String traceparent = DriverSteps.traceparent();
    String traceId = traceparent.split("-")[1];
    try (Load load = bundle.startCuda();
        Watching watching = Watching.begin("libcuda", "cuda_load");
        StackRecorder recorder =
            StackRecorder.start(new StackScope(List.of(load.pid()), false, traceId), StackRecorder.Kind.CUDA, HERTZ)) {
      watching.awaitCallsOf(trial -> load.ask("counts", trial, CALLS / 10));
      load.ask("counts", DriverSteps.traceparent(), CALLS);
      Map<String, Calls> did = DriverSteps.did(load.ask("counts", traceparent, CALLS));
      load.ask("counts", DriverSteps.traceparent(), CALLS);
      recorder.look();
      StackCounts counts = recorder.counts(Unit.CALLS);
      Files.writeString(page, FlameHtml.of(counts, "CUDA calls, trace " + traceId));
      compare(step, did, counts);
      step.row("lost", Long.toString(recorder.lost()));
      step.row("page", page.toString());
    } catch (BpfException refused) {
      throw new IOException(refused.reason(), refused);
    }
  }

  private static void compare(Step step, Map<String, Calls> did, StackCounts counts) throws IOException {
    long made = Calls.of(did, COUNTED).count();
    long launches = did.get("cuda.launch").count();
    long whole = count(counts, ";main;");
    long named = count(counts, LAUNCH);
    step.row("calls of the request", "%d of %d, in %d stacks".formatted(counts.total(), made, counts.sorted().size()));
    step.row("of them from main on", "%d".formatted(whole));
    step.row("launches with the kernel's name", "%d of %d".formatted(named, launches));
    if (counts.total() != made || whole != made || named != launches) {
      throw new IOException(
          "%d of %d calls are in the graph, %d of them from main on; %d of %d launches have the kernel's name"
              .formatted(counts.total(), made, whole, named, launches));
    }
  }

  private static long count(StackCounts counts, String part) {
    return counts.sorted().entrySet().stream()
        .filter(stack -> stack.getKey().contains(part))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
