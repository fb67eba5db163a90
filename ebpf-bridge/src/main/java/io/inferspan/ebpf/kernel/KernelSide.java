package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.probe.CallPrograms;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.probe.WatchedFunctions;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.KernelSums;
import io.inferspan.ebpf.wire.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All programs, maps and links of the bridge in the kernel.
 *
 * <p>The programs produce no events before {@link KernelSettings#begin}. Close this object last,
 * after the reader of the ring.
 */
public final class KernelSide implements AutoCloseable {

  /** The object whose programs recognise requests and observe system calls; always loaded. */
  public static final String CONTEXT = "context";

  /** The object whose programs observe calls of CUDA and NCCL. */
  public static final String CALLS = "calls";

  /**
   * The object whose programs observe the requests, operations and steps that applications report.
   */
  public static final String CKP = "ckp";

  private static final String PROCESS = "process";
  private static final String ADOPT = "adopt";
  private static final String TCP = "tcp";
  private static final String TCP_SENT = "tcp_sent";

  private static final String SCHED = "sched";

  /** The optional objects with programs at tracepoints, in the order in which they are attached. */
  private static final List<String> ON_TRACEPOINTS = List.of(SCHED, TCP);

  private final LoadedPrograms programs = new LoadedPrograms();
  private final List<LibraryProbes> libraries = new ArrayList<>();
  private final List<AutoCloseable> memory = new ArrayList<>();
  private final KernelPlan plan;
  private final TrapMeter traps;
  private @Nullable SharedContexts shared;

  /** The map of active requests, opened once because two threads read the status. */
  private @Nullable BpfMap requests;

  private @Nullable OwnerMaps owners;
  private @Nullable Adoptions adoptions;

  /** The CUDA and NCCL probes. */
  private @Nullable LibraryProbes calls;

  /** The probes on the functions with which applications mark operations. */
  private @Nullable LibraryProbes ckp;

  private KernelSide(KernelPlan plan) {
    this.plan = plan;
    this.traps = TrapMeter.beforeAttaching(mode());
  }

  /** Loads and attaches the planned objects; throws only if a required one fails. */
  public static KernelSide load(KernelPlan plan) {
    KernelSide side = new KernelSide(plan);
    try {
      side.load();
    } catch (RuntimeException | Error refused) {
      side.close();
      throw refused;
    }
    return side;
  }

  private void load() {
    shared = sharedContexts();
    programs.addNeeded(CONTEXT, prepared(shared));
    requests = context().map("requests");
    owners = new OwnerMaps(context());
    programs.attachWhole(CONTEXT);
    programs.addNeeded(PROCESS, object -> {});
    programs.attachWhole(PROCESS);
    if (programs.add(ADOPT, object -> {})) {
      adoptions = new Adoptions(programs.object(ADOPT));
    }
    ON_TRACEPOINTS.stream().filter(plan.objects()::contains).forEach(this::addOnTracepoints);
    if (plan.objects().contains(CALLS)) {
      addCalls();
    }
    if (plan.objects().contains(CKP)) {
      addCkp();
    }
  }

  private @Nullable SharedContexts sharedContexts() {
    KernelPlan.Sharing sharing = plan.sharing();
    if (!sharing.read() && !sharing.publish()) {
      return null;
    }
    String problem = "no other program has created it in " + sharing.bpfFilesystem();
    try {
      SharedContexts found = SharedContexts.open(sharing.bpfFilesystem(), sharing.publish());
      if (found != null) {
        return kept(found);
      }
    } catch (BpfException refused) {
      problem = String.valueOf(refused.getMessage());
    }
    programs.missing("otel", SharedContexts.NAME, problem);
    return null;
  }

  private Consumer<BpfObject> prepared(@Nullable SharedContexts contexts) {
    return object -> {
      object.resize("events", plan.ringBytes());
      if (contexts != null) {
        object.share("otel_contexts", contexts.map());
      }
    };
  }

  private void addOnTracepoints(String name) {
    boolean withoutSent = name.equals(TCP) && !plan.version().atLeast(6, 3);
    boolean loaded =
        programs.add(
            name,
            object -> {
              if (withoutSent) {
                object.autoload(TCP_SENT, false);
              }
            });
    if (loaded) {
      programs.attach(name, withoutSent ? Set.of(TCP_SENT) : Set.of());
      if (withoutSent) {
        programs.missing(name, TCP_SENT, "needs Linux 6.3");
      }
    }
  }

  /** Adds the probes on CUDA and NCCL functions. */
  private void addCalls() {
    List<CallPrograms> chosen = new ArrayList<>();
    if (canProbe(CALLS)
        && programs.add(
            CALLS,
            object -> {
              PolicyMaps.choose(object, mode());
              chosen.add(CallPrograms.choose(object, mode()));
            })) {
      BpfObject object = programs.object(CALLS);
      chosen.get(0).programs().forEach(program -> programs.inPlace(CALLS, object.program(program)));
      PolicyMaps.prepare(object);
      calls = new LibraryProbes(WatchedFunctions.of(Resources.callTable()), chosen.get(0));
      libraries.add(calls);
    }
  }

  private void addCkp() {
    List<CkpPrograms> chosen = new ArrayList<>();
    if (canProbe(CKP) && programs.add(CKP, object -> chosen.add(CkpPrograms.of(object, mode())))) {
      CkpPrograms marks = chosen.get(0);
      marks.programs().forEach(program -> programs.inPlace(CKP, program));
      String table = marks.table(List.of("libinferspan_ckp", WatchedFunctions.MAIN_PROGRAM));
      ckp = new LibraryProbes(WatchedFunctions.of(table), marks);
      libraries.add(ckp);
    }
  }

  private UprobeMode mode() {
    return plan.features().uprobes();
  }

  private boolean canProbe(String object) {
    String problem = plan.features().uprobeProblem();
    if (!problem.isEmpty()) {
      programs.missing(object, "*", problem);
    }
    return problem.isEmpty();
  }

  /** Returns the state of every program. */
  public List<ProgramState> programs() {
    return programs.states();
  }

  /** Returns the current state of one program, with one system call instead of one per program. */
  public ProgramState now(ProgramState program) {
    ProgramState now = programs.state(program.object(), program.name());
    return now == null ? program : now;
  }

  /** Returns the probes on library functions, as far as the kernel supports them. */
  public List<LibraryProbes> libraries() {
    return List.copyOf(libraries);
  }

  /** Returns the meter for the cost of probes, without the cost of the programs that they run. */
  public TrapMeter traps() {
    return traps;
  }

  /** Maps the settings of the programs into memory. */
  public KernelSettings settings() {
    int flags = 0;
    if (shared != null) {
      flags |= plan.sharing().read() ? KernelSettings.READ_SHARED : 0;
      flags |= plan.sharing().publish() ? KernelSettings.PUBLISH_SHARED : 0;
    }
    return kept(new KernelSettings(context().map("settings"), flags));
  }

  /** Returns the sums of events that a policy or a lowered level folded. */
  public KernelSums sums(KernelSettings settings) {
    return new KernelFolds(context().map("folds"), settings);
  }

  /** Returns the map of contexts shared with other tools; null if contexts are not shared. */
  public @Nullable SharedContexts shared() {
    return shared;
  }

  /** Removes the published contexts. Call it after publishing has stopped. */
  public void withdraw() {
    SharedContexts contexts = shared;
    BpfMap live = requests;
    if (contexts != null && live != null) {
      contexts.withdraw(live);
    }
  }

  /**
   * Looks up an owner, such as a request, if its begin event was lost. The thread is that of one of
   * its events. Returns null if the owner has ended.
   */
  public @Nullable Owner owner(long number, int tgid, int tid) {
    OwnerMaps maps = owners;
    return maps == null ? null : maps.find(number, tgid, tid);
  }

  /** Returns the adoptions; null if the kernel refused their programs. */
  public @Nullable Adoptions adoptions() {
    return adoptions;
  }

  /** Returns the counters of the programs. */
  public KernelCounters counters() {
    return kept(new KernelCounters(context().map("counters")));
  }

  /** Returns the memory in which this process's threads publish their contexts. */
  public OwnMemory ownMemory() {
    return kept(new OwnMemory(context().map("own_threads"), context().map("own_contexts")));
  }

  /** Returns the pid and tids of this process as the kernel's programs see them. */
  public Identity identity() {
    return kept(Identity.load());
  }

  /** Returns the table of observed processes. */
  public TargetTable targets() {
    return new TargetTable(context().map("targets"));
  }

  /** Returns the descriptor of the ring, which this object owns. */
  public int ringFd() {
    return context().map("events").fd();
  }

  /** Returns the size of the ring. */
  public long ringBytes() {
    return context().map("events").maxEntries();
  }

  private BpfObject context() {
    return programs.object(CONTEXT);
  }

  private <T extends AutoCloseable> T kept(T part) {
    memory.add(part);
    return part;
  }

  /**
   * Returns whether probes may be detached while no request is sampled. They must stay attached if
   * detaching takes 0.1 s per function, or if contexts of other tools are read, because no event
   * reports when these contexts begin.
   */
  public boolean maySleep() {
    return detachesQuickly() && (shared == null || !plan.sharing().read());
  }

  /** Returns whether all probes in libraries are detached together, rather than one by one. */
  public boolean detachesQuickly() {
    return calls == null || mode() != UprobeMode.PERF;
  }

  /** Returns whether the programs that recognise requests can be detached separately. */
  public boolean detachesRequests() {
    return adoptions != null && (libraries.isEmpty() || mode() != UprobeMode.PERF);
  }

  /** Returns whether there is an active request. */
  public boolean isServing() {
    BpfMap live = requests;
    return live != null && !live.isEmpty();
  }

  /** Detaches the programs of TCP events, or attaches them again. */
  public void setTcp(boolean attached) {
    if (attached) {
      programs.resume(List.of(TCP));
    } else {
      programs.pause(List.of(TCP));
    }
  }

  /**
   * Detaches the probes of a class, if it has any. The programs at system calls belong to {@link
   * EventClass#REQUESTS} rather than to SYSCALLS, because they recognise requests.
   */
  public void detach(EventClass events) {
    switch (events) {
      case SCHED -> programs.pause(List.of(SCHED));
      case CALLS, LAUNCHES -> ifLoaded(calls, probes -> probes.pause(events));
      case REQUESTS -> {
        programs.pause(List.of(CONTEXT));
        ifLoaded(ckp, probes -> probes.pause(events));
        forgetRequests();
      }
      case SYSCALLS -> {}
    }
  }

  /** Attaches the probes of a class again. */
  public void attach(EventClass events) {
    switch (events) {
      case SCHED -> programs.resume(List.of(SCHED));
      case CALLS, LAUNCHES -> ifLoaded(calls, probes -> probes.resume(events));
      case REQUESTS -> {
        // A program that was still running when it was detached may have added a request.
        forgetRequests();
        ifLoaded(ckp, probes -> probes.resume(events));
        programs.resume(List.of(CONTEXT));
      }
      case SYSCALLS -> {}
    }
  }

  /** Removes all communicators, because sequence numbers are wrong after a missed collective. */
  public void forgetCommunicators() {
    ifLoaded(calls, probes -> programs.object(CALLS).map("communicators").clear());
  }

  private static void ifLoaded(@Nullable LibraryProbes probes, Consumer<LibraryProbes> action) {
    if (probes != null) {
      action.accept(probes);
    }
  }

  private void forgetRequests() {
    if (adoptions != null) {
      adoptions.forgetRequests();
    }
    List.of("streams", "framed_slots").forEach(name -> context().map(name).clear());
  }

  /** Detaches all programs; counters can still be read. */
  public void detach() {
    libraries.forEach(LibraryProbes::close);
    programs.detach();
  }

  @Override
  public void close() {
    detach();
    for (AutoCloseable part : memory.reversed()) {
      closePart(part);
    }
    programs.close();
  }

  private static void closePart(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception impossible) {
      throw new IllegalStateException("a map or program could not be closed", impossible);
    }
  }
}
