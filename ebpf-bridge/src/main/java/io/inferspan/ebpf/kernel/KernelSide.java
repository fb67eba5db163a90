package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.probe.CallPrograms;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.probe.WatchedFunctions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All that the bridge has in the kernel.
 *
 * <p>Nothing is produced before {@link #settings} say so. Close it last, and after whoever reads
 * the ring.
 */
public final class KernelSide implements AutoCloseable {

  /** The object that is always there: whom a thread serves, and its system calls. */
  public static final String CONTEXT = "context";

  /** The object whose programs watch calls of CUDA and NCCL. */
  public static final String CALLS = "calls";

  /** The object whose programs watch what programs tell of themselves. */
  public static final String CKP = "ckp";

  private static final String PROCESS = "process";
  private static final String TCP = "tcp";
  private static final String TCP_SENT = "tcp_sent";

  /** In the order in which they are attached. */
  private static final List<String> ON_TRACEPOINTS = List.of("sched", TCP);

  private final LoadedPrograms programs = new LoadedPrograms();
  private final List<LibraryProbes> libraries = new ArrayList<>();
  private final List<AutoCloseable> memory = new ArrayList<>();
  private final KernelWish wish;
  private @Nullable SharedContexts shared;

  /** Those under way; asked for once, since two threads ask how it stands. */
  private @Nullable BpfMap requests;

  /** Those of CUDA and NCCL among the libraries. */
  private @Nullable LibraryProbes calls;

  private KernelSide(KernelWish wish) {
    this.wish = wish;
  }

  /** Loads and attaches what is wanted; throws only where nothing would work without it. */
  public static KernelSide load(KernelWish wish) {
    KernelSide side = new KernelSide(wish);
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
    programs.attachWhole(CONTEXT);
    programs.addNeeded(PROCESS, object -> {});
    programs.attachWhole(PROCESS);
    ON_TRACEPOINTS.stream().filter(wish.objects()::contains).forEach(this::addOnTracepoints);
    if (wish.objects().contains(CALLS)) {
      addCalls();
    }
    if (wish.objects().contains(CKP)) {
      addCkp();
    }
  }

  private @Nullable SharedContexts sharedContexts() {
    KernelWish.Sharing sharing = wish.sharing();
    if (!sharing.read() && !sharing.publish()) {
      return null;
    }
    String problem = "no other program has made it in " + sharing.bpfFilesystem();
    try {
      SharedContexts found = SharedContexts.open(sharing.bpfFilesystem(), sharing.publish());
      if (found != null) {
        return kept(found);
      }
    } catch (BpfException refused) {
      problem = String.valueOf(refused.getMessage());
    }
    programs.missing("contract", SharedContexts.NAME, problem);
    return null;
  }

  private Consumer<BpfObject> prepared(@Nullable SharedContexts contexts) {
    return object -> {
      object.resize("events", wish.ringBytes());
      if (contexts != null) {
        object.share("otel_contexts", contexts.map());
      }
    };
  }

  private void addOnTracepoints(String name) {
    boolean withoutSent = name.equals(TCP) && !wish.version().atLeast(6, 3);
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

  /** The objects on functions differ in how their programs are chosen, not in what then happens. */
  private void addCalls() {
    List<CallPrograms> chosen = new ArrayList<>();
    if (canProbe(CALLS)
        && programs.add(CALLS, object -> chosen.add(CallPrograms.choose(object, mode())))) {
      BpfObject object = programs.object(CALLS);
      chosen.get(0).programs().forEach(program -> programs.inPlace(CALLS, object.program(program)));
      calls = new LibraryProbes(WatchedFunctions.of(Resources.callTable()), chosen.get(0));
      libraries.add(calls);
    }
  }

  private void addCkp() {
    List<CkpPrograms> chosen = new ArrayList<>();
    if (canProbe(CKP) && programs.add(CKP, object -> chosen.add(CkpPrograms.of(object, mode())))) {
      CkpPrograms ckp = chosen.get(0);
      ckp.programs().forEach(program -> programs.inPlace(CKP, program));
      String table = ckp.table(List.of("libinferspan_ckp", WatchedFunctions.MAIN_PROGRAM));
      libraries.add(new LibraryProbes(WatchedFunctions.of(table), ckp));
    }
  }

  private UprobeMode mode() {
    return wish.features().uprobes();
  }

  private boolean canProbe(String object) {
    boolean able = mode() != UprobeMode.PERF || wish.features().has(KernelFeature.PERF_UPROBES);
    if (!able) {
      programs.missing(object, "*", "no function of a library can be watched here");
    }
    return able;
  }

  /** What became of every program. */
  public List<ProgramState> programs() {
    return programs.states();
  }

  /**
   * One of these, as it is now; to ask for it alone costs one call of the kernel and not of each.
   */
  public ProgramState now(ProgramState program) {
    ProgramState now = programs.state(program.object(), program.name());
    return now == null ? program : now;
  }

  /** Those who attach to libraries of processes, as far as the kernel lets them. */
  public List<LibraryProbes> libraries() {
    return List.copyOf(libraries);
  }

  /** Says what to do. */
  public KernelSettings settings() {
    int flags = 0;
    if (shared != null) {
      flags |= wish.sharing().read() ? KernelSettings.READ_SHARED : 0;
      flags |= wish.sharing().publish() ? KernelSettings.PUBLISH_SHARED : 0;
    }
    return kept(new KernelSettings(context().map("settings"), flags));
  }

  /** What is shared with other programs; null where nothing is. */
  public @Nullable SharedContexts shared() {
    return shared;
  }

  /** Takes out what was told to other programs; once nothing is told any more. */
  public void withdraw() {
    SharedContexts contexts = shared;
    BpfMap live = requests;
    if (contexts != null && live != null) {
      contexts.withdraw(live);
    }
  }

  /** What the programs counted. */
  public KernelCounters counters() {
    return kept(new KernelCounters(context().map("counters")));
  }

  /** Where this process's threads say whom they serve. */
  public OwnMemory ownMemory() {
    return kept(new OwnMemory(context().map("own_threads"), context().map("own_contexts")));
  }

  /** The numbers by which the kernel knows us. */
  public Identity identity() {
    return kept(Identity.load());
  }

  /** Processes of interest. */
  public TargetTable targets() {
    return new TargetTable(context().map("targets"));
  }

  /** The descriptor of the ring, which stays ours. */
  public int ringFd() {
    return context().map("events").fd();
  }

  /** Its size. */
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
   * Whether what serves requests only may be taken off while there is none: not where a function's
   * probe takes a tenth of a second to be taken off, nor where others begin requests without a
   * word.
   */
  public boolean maySleep() {
    boolean quickly = calls == null || mode() != UprobeMode.PERF;
    return quickly && (shared == null || !wish.sharing().read());
  }

  /** Whether the programs know a request that has begun and not ended. */
  public boolean isServing() {
    BpfMap live = requests;
    return live != null && !live.isEmpty();
  }

  /** Takes off what serves requests only; the rest tells when one begins. */
  public void rest() {
    if (calls != null) {
      calls.rest();
    }
    programs.rest(ON_TRACEPOINTS);
  }

  /** Puts it back. */
  public void rouse() {
    programs.rouse();
    if (calls != null) {
      calls.rouse();
    }
  }

  /** Takes the programs off functions and tracepoints; what was counted can still be read. */
  public void detach() {
    libraries.forEach(LibraryProbes::close);
    programs.detach();
  }

  @Override
  public void close() {
    detach();
    for (AutoCloseable part : memory.reversed()) {
      closeQuietly(part);
    }
    programs.close();
  }

  private static void closeQuietly(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception impossible) {
      throw new IllegalStateException("closing a part of the kernel side", impossible);
    }
  }
}
