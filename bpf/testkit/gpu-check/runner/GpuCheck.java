package io.inferspan.gpucheck;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.Prerequisite;
import io.inferspan.gpucheck.Report.Status;
import io.inferspan.gpucheck.Report.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/**
 * Checks the bridge on a machine with a GPU, step by step, each with a deadline. A step that fails
 * does not stop the others.
 */
final class GpuCheck {

  private static final long LIMIT_SECONDS = 470;
  private static final int CANNOT_RUN = 3;
  private static final Path NVIDIA = Path.of("/dev/nvidiactl");

  /** The work of a step; it throws if the step fails. */
  @FunctionalInterface
  private interface Body {
    void run(Step step) throws IOException, InterruptedException;
  }

  /** Thrown if this machine lacks something that a step needs. */
  static final class Absent extends IOException {
    private static final long serialVersionUID = 1L;

    Absent(String what) {
      super(what);
    }
  }

  private final Bundle bundle = Bundle.here();
  private final Report report = new Report();
  private final long beganNanos = System.nanoTime();

  public static void main(String[] arguments) {
    Logger.getLogger("").setLevel(Level.SEVERE); // the table contains the bridge's warnings
    Path output = Path.of(arguments.length > 0 ? arguments[0] : "gpu-check.json").toAbsolutePath();
    System.exit(new GpuCheck().run(output));
  }

  private int run(Path output) {
    report.machine.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    report.machine.put("command", "./gpu-check");
    report.machine.put("kernel", System.getProperty("os.version") + " " + System.getProperty("os.arch"));
    Step gpu = perform("GPU", 30, this::findGpu);
    Step bpf = perform("BPF", 15, this::findBpf);
    if (gpu.status == Status.OK) {
      performAll(output);
    }
    System.out.println("\n" + report.table() + "\n" + written(output));
    if (gpu.status == Status.OK && bpf.status == Status.OK) {
      return report.steps.stream().anyMatch(step -> step.status == Status.FAILED) ? 1 : 0;
    }
    System.out.println("The bridge cannot be checked here." + lacking(gpu) + lacking(bpf));
    return CANNOT_RUN;
  }

  /** Without BPF, steps do what they can. */
  private void performAll(Path output) {
    DriverSteps driver = new DriverSteps(bundle);
    PythonSteps python = new PythonSteps(bundle);
    perform("doctor", 30, this::doctor);
    perform("probes attach to libcuda", 30, driver::attach);
    perform("entry points", 15, driver::entries);
    perform("first instructions", 75, driver::firstInstructions);
    perform("known calls through the driver", 30, driver::knownCalls);
    perform("known calls through the runtime", 45, driver::runtimeCalls);
    perform("copies by size", 45, driver::copies);
    perform("launches a second", 45, driver::rates);
    perform("transformer on PyTorch", 100, python::transformer);
    perform("GEMM, LayerNorm and Softmax", 50, python::operations);
    perform("tokens a second on PyTorch", 75, python::tokens);
    perform("flame graph of one request", 30, new FlameGraphStep(bundle, output.resolveSibling("gpu-check-flame.html"))::run);
    perform("cold start", 120, new ColdStartStep(bundle, output)::run);
    perform("vLLM with random weights", 200, python::vllm);
  }

  private static String lacking(Step step) {
    return step.status == Status.OK ? "" : " No " + step.name + ": " + step.reason + ".";
  }

  private String written(Path output) {
    try {
      Files.writeString(output, report.json());
      return "Written to " + output;
    } catch (IOException refused) {
      return "Cannot write " + output + ": " + refused;
    }
  }

  private Step perform(String name, long limitSeconds, Body body) {
    System.err.println("… " + name);
    Step step = new Step(name);
    report.steps.add(step);
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              body.run(step);
              return null;
            });
    long began = System.nanoTime();
    long left = LIMIT_SECONDS - TimeUnit.NANOSECONDS.toSeconds(began - beganNanos);
    long seconds = Math.max(1, Math.min(limitSeconds, left));
    Thread.ofPlatform().daemon().name(name).start(task);
    try {
      task.get(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException late) {
      task.cancel(true);
      end(step, Status.FAILED, "not finished within " + seconds + " s");
    } catch (ExecutionException thrown) {
      Throwable cause = thrown.getCause();
      String reason = cause.getMessage() == null ? cause.toString() : cause.getMessage();
      end(step, cause instanceof Absent ? Status.ABSENT : Status.FAILED, reason);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Load.RUNNING.forEach(Load::kill);
    step.seconds = (System.nanoTime() - began) / 1e9;
    return step;
  }

  private static void end(Step step, Status status, String reason) {
    step.status = status;
    step.reason = reason.replaceAll("\\s+", " ").replace("|", "/").strip();
  }

  private void findGpu(Step step) throws IOException, InterruptedException {
    String smi = nvidiaSmi();
    try (Load load = bundle.startCuda()) {
      String[] device = load.greeting().split(" ", 2);
      report.machine.put("device", device[1] + (bundle.hasStandIn() ? " (a stand-in: no figure is of a GPU)" : ""));
      report.machine.put("driver", smi + ", CUDA " + device[0]);
    } catch (IOException none) {
      String file = NVIDIA + (Files.exists(NVIDIA) ? " exists" : " does not exist");
      throw new Absent(none.getMessage() + "; " + file + "; nvidia-smi: " + smi);
    }
  }

  private static String nvidiaSmi() throws InterruptedException {
    try {
      return Load.output("nvidia-smi", "--query-gpu=driver_version,name", "--format=csv,noheader");
    } catch (IOException missing) {
      String message = String.valueOf(missing.getMessage());
      return message.contains("error: 2 ") ? "not on the PATH" : message;
    }
  }

  /** Lists all missing prerequisites, each with the error of the attempt. */
  private void findBpf(Step step) throws IOException {
    if (EbpfSupport.check() instanceof EbpfSupport.Unavailable none) {
      throw new Absent(
          none.prerequisites().stream()
              .filter(one -> one.state() == Prerequisite.State.MISSING)
              .map(one -> one.name() + ": " + one.found())
              .collect(Collectors.joining("; ")));
    }
  }

  private void doctor(Step step) throws IOException {
    EbpfSupport support = EbpfSupport.tryOut();
    support.prerequisites().forEach(one -> step.detail(one.name(), one.state() + ": " + one.found()));
    List<String> limits =
        support.prerequisites().stream()
            .filter(one -> one.state() == Prerequisite.State.LIMITED)
            .map(one -> one.name() + ": " + one.found())
            .toList();
    step.row("limits", limits.isEmpty() ? "none" : String.join("; ", limits));
    if (support instanceof EbpfSupport.Unavailable none) {
      throw new Absent("BPF: " + none.reason());
    }
  }
}
