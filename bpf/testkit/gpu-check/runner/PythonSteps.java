package io.inferspan.gpucheck;

import io.inferspan.gpucheck.Report.Step;
import io.inferspan.gpucheck.Watching.Calls;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Steps on PyTorch and vLLM, if this machine's Python has them. */
final class PythonSteps {

  private static final String UNSAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  private static final String CKP = "libinferspan_ckp.so";
  private static final String INJECTED = "CUPTI injection −64 % on vLLM (parca-agent)";
  private static final int TIMES = 500;
  private static final List<String> GROUPS = List.of("launches", "copies", "synchronises");

  /** For each group of calls, the bridge's and the profiler's names. */
  private static final List<String> KINDS =
      List.of(
          "cuda\\.(graph_)?launch|cu(da)?(LaunchKernel|GraphLaunch|LaunchCooperative).*",
          "cuda\\.memcpy.*|cu(da)?Memcpy.*",
          "cuda\\.(stream|event|device)_sync|cu(da)?(Stream|Event|Device|Ctx)Synchronize");

  private final Bundle bundle;

  PythonSteps(Bundle bundle) {
    this.bundle = bundle;
  }

  private Load torch() throws IOException {
    return bundle.startPython("torch_load.py", bundle.file(CKP).toString());
  }

  private static Watching watch(Load load) throws IOException, InterruptedException {
    return Watching.begin(traceparent -> load.ask("operation", traceparent, "softmax", 1, 0), "libcuda", CKP);
  }

  /** Compares simultaneous counts of bridge and profiler, and reports the parts of the request's time. */
  void transformer(Step step) throws IOException, InterruptedException {
    List<String> wrong = new ArrayList<>();
    try (Load load = torch()) {
      step.row("PyTorch", load.greeting());
      load.ask("counts", UNSAMPLED, "decode", 1, 0);
      DriverSteps.reached(bundle, step, "PyTorch", load, () -> profiled(load.ask("counts", UNSAMPLED, "decode", 1, 0)));
      try (Watching watching = watch(load)) {
        for (String phase : List.of("prefill", "decode")) {
          for (int i = 0; i < 4; i++) {
            int batch = i < 2 ? 1 : 16;
            String what = "%s, batch %d, %s".formatted(phase, batch, i % 2 == 1 ? "graphs" : "no graphs");
            String traceparent = DriverSteps.traceparent();
            load.ask("counts", UNSAMPLED, phase, batch, i % 2); // captures, compiles, allocates
            List<String[]> answer = load.ask("counts", traceparent, phase, batch, i % 2);
            String kinds = String.join("|", KINDS);
            long count = Calls.of(profiled(answer), kinds).count();
            compare(step, what, answer, watching.of(traceparent, kinds, count), wrong);
          }
        }
      }
    }
    if (!wrong.isEmpty()) {
      throw new IOException("the bridge and the profiler count different calls: " + String.join(", ", wrong));
    }
  }

  private static Map<String, Calls> profiled(List<String[]> answer) {
    Map<String, Calls> calls = new TreeMap<>();
    answer.stream().filter(words -> words[0].equals("called"))
        .forEach(words -> calls.put(words[1], new Calls(Long.parseLong(words[2]), 0)));
    return calls;
  }

  private static void compare(Step step, String what, List<String[]> answer, Map<String, Calls> seen, List<String> wrong) {
    double nanos = Double.parseDouble(answer.getFirst()[1]);
    Map<String, Calls> profiled = profiled(answer);
    List<String> counts = new ArrayList<>();
    List<String> shares = new ArrayList<>();
    double others = 100;
    for (int i = 0; i < GROUPS.size(); i++) {
      Calls ours = Calls.of(seen, KINDS.get(i));
      long theirs = Calls.of(profiled, KINDS.get(i)).count();
      counts.add("%d of %d %s".formatted(ours.count(), theirs, GROUPS.get(i)));
      shares.add(String.format(Locale.ROOT, "%s %.1f %%", GROUPS.get(i), 100 * ours.nanos() / nanos));
      others -= 100 * ours.nanos() / nanos;
      if (ours.count() != theirs) {
        wrong.add(what + ": " + counts.getLast());
      }
    }
    step.row(what + ": calls that the bridge counted, of the profiler's", String.join(", ", counts));
    String device =
        answer.stream()
            .filter(words -> words[0].equals("device"))
            .map(words -> String.format(Locale.ROOT, "%s %.1f %%", words[1], 100 * Double.parseDouble(words[2]) / nanos))
            .collect(Collectors.joining(", "));
    step.row(what + ": time of the request", String.format(Locale.ROOT, "%s: %s, others %.1f %%",
            Report.nanos(nanos), String.join(", ", shares), others), device, "eInfer's figure 6");
  }

  void operations(Step step) throws IOException, InterruptedException {
    Map<String, String> published = Map.of(
            "gemm", "0.185 ms; CUPTI +1.56 %, eBPF +0.51 % of 138.578 ms (eInfer)",
            "layer_norm", "4.929 ms (eInfer)",
            "softmax", "4.699 ms (eInfer)");
    List<String> names = List.of("gemm", "layer_norm", "softmax");
    Map<String, Double> base = new TreeMap<>();
    try (Load load = torch()) {
      for (String name : names) {
        double alone = Double.parseDouble(load.ask("operation", UNSAMPLED, name, TIMES, 0).getLast()[1]);
        String[] profiled = load.ask("operation", UNSAMPLED, name, TIMES, 1).getLast();
        step.row(name, "%s; with the profiler %s".formatted(Report.nanos(alone), slower(profiled, alone)),
            Report.nanos(Double.parseDouble(profiled[2])), published.get(name));
        base.put(name, alone);
      }
      try (Watching watching = watch(load)) {
        for (String name : names) {
          String traceparent = DriverSteps.traceparent();
          String[] bridged = load.ask("operation", traceparent, name, TIMES, 0).getLast();
          Calls calls = Calls.of(watching.of(traceparent), KINDS.get(0) + "|" + KINDS.get(2));
          step.row(name + " with the bridge", "%s; in the launch and the synchronise %s"
                  .formatted(slower(bridged, base.get(name)), Report.nanos((double) calls.nanos() / TIMES)));
        }
      }
    }
  }

  private static String slower(String[] words, double base) {
    return Report.slowdown(1 / base, 1 / Double.parseDouble(words[1]));
  }

  private static long inSteps(List<Map<String, Calls>> requests) {
    return requests.stream().filter(seen -> seen.containsKey("llm_d.engine.prefill")).count();
  }

  /** Waits until the plugin's steps are observed; without the plugin, work of a batch has no request. */
  private static String plugin(Watching watching) throws InterruptedException {
    try {
      return watching.awaitFunctionsOf(CKP);
    } catch (IOException notLoaded) {
      return notLoaded.getMessage();
    }
  }

  void tokens(Step step) throws IOException, InterruptedException {
    try (Load load = torch()) {
      double base = DriverSteps.rate(load.ask("tokens", bundle.seconds(), 0, 0).getLast());
      double profiled = DriverSteps.rate(load.ask("tokens", bundle.seconds(), 0, 1).getLast());
      step.row("tokens a second, PyTorch's profiler on", DriverSteps.slower(base, profiled), "",
           "4.67× Qwen3-0.6B, 3.16× LLaMA3-8B, 2.22× LLaMA2-13B, 1.22× LLaMA3-70B (eInfer)");
      DriverSteps.compareRates(step, "tokens", INJECTED, bundle.rounds(),
          share -> load.ask("tokens", bundle.seconds(), share, 0).getLast(), () -> watch(load));
    }
  }

  /** Checks a server under load: how much of its work belongs to the sampled requests. */
  void vllm(Step step) throws IOException, InterruptedException {
    try (Load load = bundle.startPython("vllm_load.py")) {
      String[] ready = load.greeting().split(" ");
      step.row("vLLM " + ready[0] + ", until it is healthy", Report.nanos(Double.parseDouble(ready[1])), "",
          "18 s, Mistral-7B on an A10 (vllm-coldstart-probe)");
      load.ask("tokens", 0);
      DriverSteps.compareRates(step, "tokens", INJECTED, bundle.rounds(),
          share -> load.ask("tokens", share).getLast(), () -> Watching.begin("libcuda"));
      try (Watching watching = Watching.begin("libcuda")) {
        step.row("plugin that marks vLLM's steps", plugin(watching));
        load.ask("tokens", 100);
        List<Map<String, Calls>> requests = requests(watching, load.ask("tokens", 100), "sampled");
        step.row("sampled requests with CUDA calls of their own", withCuda(requests) + " of " + requests.size());
        step.row("sampled requests with their share of steps", inSteps(requests) + " of " + requests.size());
        for (String family : List.of("cuda", "syscall", "sched", "tcp")) {
          Calls all = requests.stream().map(seen -> Calls.of(seen, family + "\\..*")).reduce(Calls.NONE, Calls::plus);
          step.row(family + " under a request", String.format(Locale.ROOT, "%.1f, %s", (double) all.count() / requests.size(),
                  Report.nanos((double) all.nanos() / requests.size())), "", "eInfer's figure 6");
        }
        requests = requests(watching, load.ask("stack", 100), "complete");
        step.row("requests with spans of gateway, endpoint picker and P/D sidecar, and their share of steps in the same trace",
            inSteps(requests) + " of " + requests.size());
      }
    }
  }

  /** Counts the spans of each of these requests. Its share of steps is exported a second after a request's end. */
  private static List<Map<String, Calls>> requests(Watching watching, List<String[]> answer, String which)
      throws InterruptedException {
    List<String> contexts = answer.stream().filter(words -> words[0].equals(which)).map(words -> words[1]).toList();
    List<Map<String, Calls>> requests = List.of();
    for (int i = 0; i < 8 && (requests.isEmpty() || inSteps(requests) < requests.size()); i++) {
      watching.settle();
      requests = contexts.stream().map(watching::settled).toList();
    }
    return requests;
  }

  private static long withCuda(List<Map<String, Calls>> requests) {
    return requests.stream().filter(seen -> Calls.of(seen, "cuda\\..*").count() > 0).count();
  }
}
