package io.inferspan.ebpf.cli;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.Adoption;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.coldstart.CallRecord;
import io.inferspan.ebpf.coldstart.CallRecordFile;
import io.inferspan.ebpf.coldstart.CallReport;
import io.inferspan.ebpf.coldstart.ColdStart;
import io.inferspan.ebpf.coldstart.ColdStart.Outcome;
import io.inferspan.ebpf.coldstart.ColdStartPage;
import io.inferspan.ebpf.coldstart.ColdStartText;
import io.inferspan.ebpf.coldstart.ColdStartTrace;
import io.inferspan.ebpf.coldstart.LoadableLibraries;
import io.inferspan.ebpf.coldstart.Observation;
import io.inferspan.ebpf.coldstart.Readiness;
import io.inferspan.ebpf.coldstart.Readiness.Cause;
import io.inferspan.ebpf.coldstart.Readiness.Ready;
import io.inferspan.ebpf.coldstart.StackEvents;
import io.inferspan.ebpf.coldstart.StoppedCommand;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.Threads;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Observes one start and writes its calls, tables, timeline and trace. */
final class ColdStartRun {

  /** A start is rare, so its trace is recorded unless the parent span is not sampled. */
  private static final String SAMPLER = "otel.traces.sampler";

  private static final int POLL_MILLIS = 50;

  /** Gives the JVM time to finish compiling before the command needs the CPUs. */
  private static final long COMPILATION_NANOS = TimeUnit.MILLISECONDS.toNanos(600);

  private static final int RESULTS_SECONDS = 20;

  private final ColdStartCommand options;
  private final Map<String, String> environment;
  private final PrintStream out;
  private final PrintStream err;
  private final Observation observation = new Observation();
  private final Readiness readiness = new Readiness();
  private final CountDownLatch written = new CountDownLatch(1);

  private ColdStartRun(ColdStartCommand options) {
    EbpfTool tool = options.tool();
    this.options = options;
    this.environment = tool.environment;
    this.out = tool.out;
    this.err = tool.err;
  }

  /** Observes a start; returns the exit status, which says whether the server became ready. */
  static int run(ColdStartCommand options) throws IOException, InterruptedException {
    EbpfTool tool = options.tool();
    long root = options.pid == 0 ? ProcessHandle.current().pid() : options.pid;
    AgentSettings settings = new AgentSettings("pid:" + root, false, tool.environment);
    BridgeConfig config = options.bridge(settings);
    if (EbpfSupport.check() instanceof EbpfSupport.Unavailable none) {
      return AgentCommand.unavailable(none, tool.err);
    }
    ColdStartRun run = new ColdStartRun(options);
    try (LoadableLibraries ignored =
            LoadableLibraries.map(tool.environment.get("LD_LIBRARY_PATH"));
        Telemetry telemetry =
            Telemetry.initTracing(
                AgentCommand.options(settings).setting(SAMPLER, "parentbased_always_on").build());
        EbpfBridge bridge = EbpfBridge.attachObserved(telemetry, config, run.observation)) {
      if (bridge.support() instanceof EbpfSupport.Unavailable none) {
        return AgentCommand.unavailable(none, tool.err);
      }
      return run.observe(telemetry, bridge);
    } finally {
      run.written.countDown();
    }
  }

  private int observe(Telemetry telemetry, EbpfBridge bridge)
      throws IOException, InterruptedException {
    if (options.dropsCaches) {
      dropCaches();
    }
    try (StackEvents stacks = StackEvents.start()) {
      long begin = Clocks.monotonicNanos() + (options.pid == 0 ? COMPILATION_NANOS : 0);
      ColdStartTrace trace = ColdStartTrace.start(telemetry, environment, begin);
      StoppedCommand command =
          options.pid == 0
              ? StoppedCommand.start(options.command, trace.environment(), options.log != null)
              : null;
      Process process = command == null ? null : command.process();
      ProcessHandle root =
          process == null ? ProcessHandle.of(options.pid).orElseThrow() : process.toHandle();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupted(process)));
      stacks.follow(root);
      Ready ready = follow(bridge, trace, root, command, stacks);
      long lost = bridge.status().lost() + stacks.lost();
      bridge.close();
      Outcome outcome =
          Outcome.of(
              root, trace.startNanos(), ready, stacks.listenNanos(), lost + observation.leftOut());
      ColdStart start = ColdStart.of(observation, stacks, outcome);
      write(start, trace);
      trace.end(start);
      telemetry.close();
      written.countDown();
      return ending(process, ready);
    }
  }

  /** Follows the process, resumes the command, and waits until it is ready. */
  private Ready follow(
      EbpfBridge bridge,
      ColdStartTrace trace,
      ProcessHandle root,
      @Nullable StoppedCommand command,
      StackEvents stacks)
      throws IOException, InterruptedException {
    boolean follows = false;
    try (Adoption adoption = bridge.adopt((int) root.pid(), trace.traceparent())) {
      if (!adoption.isActive()) {
        throw new IOException(
            "process "
                + root.pid()
                + " cannot be followed: unset TRACEPARENT if it is not sampled, or run coldstart in"
                + " the machine's PID namespace (hostPID, docker run --pid host)");
      }
      follows = true;
      waitFor(root, command == null ? null : command.process());
      // The bridge must find the libraries before the command calls them.
      Threads.giveWayExcept("inferspan-ebpf-");
      if (command != null) {
        Thread.sleep(Duration.ofNanos(trace.startNanos() - Clocks.monotonicNanos()));
        command.resume();
      }
      return await(stacks);
    } finally {
      if (command != null && !follows) {
        command.process().destroyForcibly();
      }
    }
  }

  private void waitFor(ProcessHandle root, @Nullable Process process) {
    if (options.url != null) {
      readiness.whenAnswering(options.url);
    }
    if (options.log != null && process != null) {
      readiness.whenLogged(process, options.log, out);
    }
    readiness.whenEnded(root);
  }

  private Ready await(StackEvents stacks) throws InterruptedException {
    CompletableFuture<Ready> ready = readiness.ready();
    Style style = Style.ofThisProcess(environment);
    long began = System.nanoTime();
    while (true) {
      try {
        Ready known = ready.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
        stacks.poll();
        return known;
      } catch (TimeoutException notYet) {
        stacks.poll();
        if (style == Style.TERMINAL) {
          err.printf(
              "\r%.1f s: %,d events%s ",
              (System.nanoTime() - began) / 1e9,
              observation.count(),
              stacks.listenNanos() == 0 ? "" : ", listening");
        }
      } catch (ExecutionException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  private void write(ColdStart start, ColdStartTrace trace) throws IOException {
    List<CallRecord> records = start.records();
    try (OutputStream file = Files.newOutputStream(options.out)) {
      CallRecordFile.write(records, file);
    }
    out.print(ColdStartText.of(start));
    out.print(CallReport.of(records, options.bucket));
    Path page = page(options.out);
    String html = ColdStartPage.of(start);
    Files.writeString(page, html);
    if (options.desk != null) {
      send(html, options.desk, trace.traceId());
    }
    out.printf("%nwrote %s and %s, trace %s%n", options.out, page, trace.traceId());
  }

  /** Uploads the page before the trace is complete, so that the desk shows both at once. */
  private void send(String page, URL desk, String traceId) {
    try {
      DeskTimeline.put(page, desk, traceId);
    } catch (IOException refused) {
      err.println("the timeline was not uploaded to the trace desk: " + refused.getMessage());
    }
  }

  /** Returns the path of the page, next to the file of calls. */
  private static Path page(Path calls) {
    String name = String.valueOf(calls.getFileName());
    return calls.resolveSibling(name.replaceFirst("(\\.jsonl)?$", ".html"));
  }

  private void dropCaches() throws IOException, InterruptedException {
    err.println(
        "dropping the page cache of this machine, which slows down other programs for a while");
    String command = "sync && echo 3 > /proc/sys/vm/drop_caches";
    if (new ProcessBuilder("/bin/sh", "-c", command).inheritIO().start().waitFor() != 0) {
      throw new IOException("the page cache could not be dropped: run as root");
    }
  }

  /** Ends the observation on Ctrl-C, and waits until its results are written. */
  private void interrupted(@Nullable Process process) {
    if (written.getCount() > 0) {
      readiness.report(Cause.INTERRUPTED);
      try {
        boolean ignored = written.await(RESULTS_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (process != null) {
      process.destroy();
    }
  }

  /** Returns the exit status, after the server has ended or was stopped. */
  private int ending(@Nullable Process process, Ready ready) throws InterruptedException {
    if (process != null && options.stops) {
      process.destroy();
    }
    if (process != null && ready.cause() != Cause.INTERRUPTED) {
      process.waitFor();
    }
    boolean awaited = options.url != null || options.log != null;
    boolean isReady = ready.cause() == Cause.URL || ready.cause() == Cause.LOG;
    return isReady || (!awaited && ready.cause() == Cause.EXIT) ? EbpfTool.DONE : EbpfTool.FAILED;
  }
}
