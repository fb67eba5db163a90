package io.inferspan.gpucheck;

import io.inferspan.gpucheck.Report.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Records the start of a program that only opens the device, and of an engine: vLLM if it is installed, else PyTorch. */
final class ColdStartStep {

  private static final String SEED = "vllm-coldstart-probe, Mistral-7B on an A10";

  /** The published number of calls, total, median and longest duration. */
  private static final Map<String, String> PUBLISHED =
      Map.of(
          "read", "23,137 calls, 1037 ms, 1.1 µs, 44 ms",
          "openat", "19,454 calls, 154 ms, 2.6 µs, 1.4 ms",
          "mmap", "1,846 calls, 16 ms, 4.8 µs, 1.0 ms",
          "close", "16,803 calls, 16 ms, 0.8 µs, 0.3 ms",
          "cuLaunchKernel", "947 calls, 1337 ms, 4.2 µs, 1287 ms",
          "cuInit", "6 calls, 123 ms, 5 µs, 123 ms",
          "cuMemAlloc_v2", "179 calls, 34 ms, 106 µs, 2 ms",
          "cuModuleLoadData", "1 call, 1 ms, 780 µs, 1 ms");

  /** A phase in the report (name, begin, end, own time, share and evidence), or the description of a gap. */
  private static final Pattern PHASE =
      Pattern.compile("(?m)^  (\\S+) +[0-9.]+ +[0-9.]+ +([0-9.]+) +([0-9.]+%)(?: +(\\S.*))?$");

  /** A row of calls in the report: name, calls, total, share, three quantiles, longest, and unpaired calls. */
  private static final Pattern CALL =
      Pattern.compile("(?m)^  (\\S+) +([0-9,]+) +([0-9,.]+) +[0-9.]+% +([0-9,.]+) +\\S+ +\\S+ +([0-9,.]+) +[0-9,]+$");

  private final Bundle bundle;
  private final Path output;

  /** Creates the step, which writes the calls of each start and a page that shows them. */
  ColdStartStep(Bundle bundle, Path output) {
    this.bundle = bundle;
    this.output = output;
  }

  void run(Step step) throws IOException, InterruptedException {
    if (!observed(step, "device", bundle.cudaLoad())) {
      throw new IOException("no program could open the device");
    }
    if (!observed(step, "vllm", bundle.python("vllm_load.py"))) {
      observed(step, "pytorch", bundle.python("torch_load.py", bundle.file("libinferspan_ckp.so").toString()));
    }
  }

  private boolean observed(Step step, String name, List<String> command) throws IOException, InterruptedException {
    String report = observe(output.resolveSibling("gpu-check-coldstart-" + name + ".jsonl"), command);
    String greeting = report.lines().filter(line -> line.matches("(ready|absent|failed) .*")).findFirst().orElse("ended");
    boolean ready = greeting.startsWith("ready");
    step.row(name, ready ? "" : greeting);
    if (ready) {
      rows(step, report);
    }
    return ready;
  }

  private String observe(Path calls, List<String> command) throws IOException, InterruptedException {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx512m",
                "-jar",
                bundle.file("inferspan-ebpf-bridge.jar").toString(),
                "coldstart",
                "--ready-log",
                "^(ready|absent|failed) ",
                "--out",
                calls.toString(),
                "--"));
    words.addAll(Load.inItsEnvironment(command));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put("OTEL_TRACES_EXPORTER", "none");
    if (bundle.hasStandIn()) {
      builder.environment().merge(Load.LIBRARIES, bundle.standIn(), (own, more) -> own + ":" + more);
    }
    return Load.output(builder);
  }

  private static void rows(Step step, String report) throws IOException {
    List<MatchResult> made = CALL.matcher(report).results().toList();
    List<MatchResult> phases = PHASE.matcher(report).results().toList();
    if (made.isEmpty() || phases.isEmpty()) {
      throw new IOException("no phases or no calls: " + report.strip().lines().reduce("", (first, last) -> last));
    }
    for (MatchResult phase : phases) {
      String name = phase.group(1);
      String host = phase.group(2) + " s, " + phase.group(3) + (name.equals("gap") ? ": " + phase.group(4) : "");
      step.row(name, host, "", name.equals("all") ? "18 s (" + SEED + ")" : "");
    }
    for (MatchResult call : made) {
      String host = "%s calls, %s ms, %s µs, %s ms".formatted(call.group(2), call.group(3), call.group(4), call.group(5));
      String published = PUBLISHED.get(call.group(1));
      if (published == null) {
        step.detail(call.group(1), host);
      } else {
        step.row(call.group(1) + ": calls, total, median, longest", host, "", published);
      }
    }
  }
}
