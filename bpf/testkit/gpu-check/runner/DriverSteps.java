package io.inferspan.gpucheck;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.gpucheck.Report.Step;
import io.inferspan.gpucheck.Watching.Calls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;

/** Steps on the driver API, which the bundle's own program calls. */
final class DriverSteps {

  private static final int CALLS = 2000;
  private static final int COST_CALLS = 10_000;

  private final Bundle bundle;

  DriverSteps(Bundle bundle) {
    this.bundle = bundle;
  }

  /** Returns the traceparent of a new sampled request. */
  static String traceparent() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return "00-%016x%016x-%016x-01".formatted(random.nextLong(), random.nextLong(), random.nextLong() | 1);
  }

  void attach(Step step) throws IOException, InterruptedException {
    try (Load load = bundle.startCuda()) {
      Path library = load.libcuda();
      List<String> missing = new ArrayList<>(bundle.watched());
      missing.removeAll(ElfSymbols.of(library).functions());
      step.row("library", library.toRealPath().getFileName().toString());
      step.row("probed functions that the driver does not export", missing.isEmpty() ? "none" : String.join(" ", missing));
      try (Watching watching = Watching.begin()) {
        step.row("watched", watching.awaitFunctionsOf("libcuda"));
      }
    }
  }

  /** Checks that a caller that looks up an entry point gets the probed function. */
  void entries(Step step) throws IOException {
    try (Load load = bundle.startCuda()) {
      int same = 0;
      for (String[] words : load.ask("entries", String.join(" ", bundle.watched()))) {
        long exported = Long.parseLong(words[2]);
        long table = Long.parseLong(words[3]);
        same += exported >= 0 && exported == table ? 1 : 0;
        if (exported >= 0 && table >= 0 && exported != table) {
          step.row(words[1] + " by cuGetProcAddress", "at %#x, exported at %#x".formatted(table, exported));
        }
      }
      step.row("cuGetProcAddress gives the exported function", same + " functions");
    }
  }

  /** Measures the CPU time of a call before the driver is initialised, with and without an empty probe. */
  void firstInstructions(Step step) throws IOException, InterruptedException {
    Path library;
    try (Load load = bundle.startCuda()) {
      library = load.libcuda();
    }
    Map<Long, String> places = Probes.places(library, bundle.watched());
    Map<String, String> instructions = new TreeMap<>();
    for (Map.Entry<Long, String> place : places.entrySet()) {
      instructions.put(place.getValue(), Probes.firstInstruction(library, place.getKey()));
    }
    Map<String, List<String>> kinds = new TreeMap<>();
    instructions.forEach((function, instruction) -> kinds.computeIfAbsent(instruction, any -> new ArrayList<>()).add(function));
    kinds.forEach((instruction, functions) -> step.row(instruction, functions.size() + " functions"));
    Map<String, Double> base = costs(places.values());
    addedCosts(step, "perf event", UprobeMode.PERF, library, instructions, base);
    addedCosts(step, "uprobe_multi", UprobeMode.MULTI, library, instructions, base);
  }

  private void addedCosts(
      Step step, String how, UprobeMode mode, Path library, Map<String, String> instructions, Map<String, Double> base)
      throws IOException, InterruptedException {
    Map<String, List<Double>> byInstruction = new TreeMap<>();
    try (Probes _ = Probes.attach(bundle, "nothing", mode, library, bundle.watched())) {
      Map<String, Double> probed = costs(instructions.keySet());
      instructions.forEach((function, instruction) -> {
            boolean survived = base.getOrDefault(function, -1.0) >= 0 && probed.getOrDefault(function, -1.0) >= 0;
            double added = survived ? Math.max(0, probed.get(function) - base.get(function)) : -1;
            step.detail(function + " (" + instruction + ") by " + how, survived ? Report.nanos(added) : "not measured");
            if (survived) {
              byInstruction.computeIfAbsent(instruction, any -> new ArrayList<>()).add(added);
            }
          });
    } catch (BpfException refused) {
      step.row("a probe by " + how, refused.reason());
    }
    byInstruction.forEach((instruction, added) -> {
          String middle = Report.nanos(median(added));
          String range = Report.nanos(added.getFirst()) + " to " + Report.nanos(added.getLast());
          step.row("a probe on " + instruction + " by " + how, middle + ", from " + range);
        });
  }

  private Map<String, Double> costs(Collection<String> functions) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(bundle.cudaLoad());
    command.addAll(List.of("cost", Integer.toString(COST_CALLS)));
    command.addAll(functions);
    Map<String, Double> costs = new TreeMap<>();
    for (String line : Load.output(command.toArray(String[]::new)).split("\n")) {
      String[] words = line.split(" ");
      if (words[0].equals("cost")) {
        costs.put(words[1], Double.parseDouble(words[2]));
      }
    }
    return costs;
  }

  void knownCalls(Step step) throws IOException, InterruptedException {
    try (Load load = bundle.startCuda()) {
      knownCalls(step, load, "the driver's load", "cuda_load");
    }
  }

  void runtimeCalls(Step step) throws IOException, InterruptedException {
    if (bundle.hasStandIn()) {
      throw new GpuCheck.Absent("a real driver, without which the vendor's runtime makes no call");
    }
    Path program = Files.createTempFile("gpu-check", "");
    try {
      Load.output("sh", bundle.file("compile-runtime-load").toString(), program.toString());
    } catch (IOException none) {
      throw new GpuCheck.Absent("a compiled load: " + none.getMessage());
    }
    try (Load load = new Load(program, List.of(program.toString()))) {
      knownCalls(step, load, "libcudart", program.getFileName().toString());
    } finally {
      Files.delete(program);
    }
  }

  /** Checks which functions known calls reach, and that the bridge reports exactly these calls. */
  private void knownCalls(Step step, Load load, String caller, String program) throws IOException, InterruptedException {
    reached(bundle, step, caller, load, () -> did(load.ask("counts", traceparent(), CALLS)));
    try (Watching watching = Watching.begin(traceparent -> load.ask("counts", traceparent, CALLS / 10), "libcuda", program)) {
      String traceparent = traceparent();
      Map<String, Calls> did = did(load.ask("counts", traceparent, CALLS));
      long count = Calls.of(did, ".*").count();
      compare(step, did, watching.of(traceparent, "cuda\\..*", count), watching.losses());
    }
  }

  static Map<String, Calls> did(List<String[]> answer) {
    Map<String, Calls> did = new TreeMap<>();
    for (String[] words : answer) {
      did.merge(words[1], new Calls(Long.parseLong(words[2]), Long.parseLong(words[3])), Calls::plus);
    }
    return did;
  }

  private static void compare(Step step, Map<String, Calls> did, Map<String, Calls> seen, Map<String, Long> losses) throws IOException {
    List<String> wrong = new ArrayList<>();
    Map<String, Calls> all = new TreeMap<>(did);
    seen.keySet().stream().filter(kind -> kind.startsWith("cuda.")).forEach(kind -> all.putIfAbsent(kind, Calls.NONE));
    all.forEach((kind, calls) -> {
          Calls ours = seen.getOrDefault(kind, Calls.NONE);
          step.row(kind, "%d of %d; %s a call, the caller measured %s"
                  .formatted(ours.count(), calls.count(), Report.nanos(ours.mean()), Report.nanos(calls.mean())));
          if (ours.count() != calls.count()) {
            wrong.add("%d of %d %s".formatted(ours.count(), calls.count(), kind));
          }
        });
    boolean lost = losses.values().stream().anyMatch(count -> count > 0);
    if (!wrong.isEmpty() || lost) {
      throw new IOException("the bridge reported " + String.join(", ", wrong) + "; it lost " + losses);
    }
  }

  /** Counts the calls of the driver's exported functions; calls through other pointers are not counted. */
  static void reached(Bundle bundle, Step step, String caller, Load load, Callable<Map<String, Calls>> calling)
      throws IOException {
    try (Probes probes = exported(bundle, load.libcuda())) {
      long made = Calls.of(calling.call(), "cuda\\.launch|cu(da)?Launch.*").count();
      Map<String, Long> calls = probes.calls();
      long launches = 0;
      for (Map.Entry<String, Long> call : calls.entrySet()) {
        launches += call.getKey().startsWith("cuLaunch") ? call.getValue() : 0;
      }
      step.row("launches of " + caller + " that reach exported functions", launches + " of " + made);
      step.row("exported functions that " + caller + " calls", calls.toString());
    } catch (BpfException refused) {
      step.row("exported functions that " + caller + " calls", refused.reason());
    } catch (IOException | RuntimeException failed) {
      throw failed;
    } catch (Exception failed) {
      throw new IOException(failed);
    }
  }

  /** Probes all functions of the driver, or only those of the bridge if each needs its own perf event. */
  private static Probes exported(Bundle bundle, Path library) throws IOException {
    try {
      List<String> all = ElfSymbols.of(library).functions().stream().filter(name -> name.matches("cu[A-Z].*")).toList();
      return Probes.attach(bundle, "count", UprobeMode.MULTI, library, all);
    } catch (BpfException before66) {
      return Probes.attach(bundle, "count", UprobeMode.PERF, library, bundle.watched());
    }
  }

  void copies(Step step) throws IOException, InterruptedException {
    try (Load load = bundle.startCuda();
        Watching watching = Watching.begin(copy(load), "libcuda", "cuda_load")) {
      for (String direction : List.of("h2d", "d2h")) {
        for (long bytes = 4 << 10; bytes <= 256 << 20; bytes *= 16) {
          int times = bytes > 1 << 20 ? 20 : 200;
          String traceparent = traceparent();
          String[] words = load.ask("copies", traceparent, direction, bytes, times).getLast();
          Calls seen = Calls.of(watching.of(traceparent), "cuda\\.(memcpy.*|stream_sync)");
          step.row("%s of %d KiB, with its synchronise".formatted(direction, bytes >> 10),
              "%s, the caller measured %s"
                  .formatted(Report.nanos((double) seen.nanos() / times), Report.nanos(Double.parseDouble(words[1]))),
              Report.nanos(Double.parseDouble(words[2])), "as CUPTI (eInfer's figure 4)");
        }
      }
    }
  }

  private static Watching.Trial copy(Load load) {
    return traceparent -> load.ask("copies", traceparent, "h2d", 4096, 1);
  }

  void rates(Step step) throws IOException, InterruptedException {
    try (Load load = bundle.startCuda()) {
      compareRates(step, "launches", "eBPF 0.51 %, CUPTI 1.56 % on GEMM (eInfer)", bundle.rounds(),
          share -> load.ask("rate", bundle.seconds(), share).getLast(), () -> Watching.begin(copy(load), "libcuda", "cuda_load"));
    }
  }

  /** Makes calls for some time; SHARE percent of its requests are sampled. */
  @FunctionalInterface
  interface Work {
    String[] run(int share) throws IOException;
  }

  /** Attaches the bridge. */
  @FunctionalInterface
  interface Attaching {
    Watching begin() throws IOException, InterruptedException;
  }

  /** Measures the rates without and with the bridge, in turns. */
  static void compareRates(Step step, String what, String published, int rounds, Work work, Attaching attaching)
      throws IOException, InterruptedException {
    List<Double> bases = new ArrayList<>();
    Map<Integer, List<Double>> rates = new TreeMap<>();
    try {
      for (int round = 0; round < rounds; round++) {
        bases.add(rate(work.run(0)));
        for (int share : List.of(0, 10, 100)) {
          try (Watching _ = attaching.begin()) {
            rates.computeIfAbsent(share, any -> new ArrayList<>()).add(rate(work.run(share)));
          }
        }
      }
    } finally {
      double base = bases.isEmpty() ? Double.NaN : median(bases);
      step.row(what + " a second, no bridge", String.format(Locale.ROOT, "%.0f", base));
      rates.forEach((share, all) -> step.row("%s a second, %d %% of requests sampled".formatted(what, share),
              slower(base, median(all)), "", share == 100 ? published : ""));
    }
  }

  static String slower(double base, double rate) {
    return String.format(Locale.ROOT, "%.0f, slower %s", rate, Report.slowdown(base, rate));
  }

  /** Parses the words name, count, nanoseconds. */
  static double rate(String[] words) {
    return Double.parseDouble(words[1]) * 1e9 / Double.parseDouble(words[2]);
  }

  /** Sorts the values and returns the median. */
  static double median(List<Double> values) {
    values.sort(null);
    return values.get(values.size() / 2);
  }
}
