package io.inferspan.ebpf.live;

import static io.inferspan.ebpf.kernel.KernelLoss.RING_FULL;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeScope;
import io.inferspan.ebpf.clock.ReferenceClock;
import io.inferspan.ebpf.context.OwnThreads;
import io.inferspan.ebpf.context.PublishingContextStorage;
import io.inferspan.ebpf.kernel.Identity;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.kernel.OwnMemory;
import io.inferspan.ebpf.kernel.ProgramState;
import io.inferspan.ebpf.kernel.SharedContexts;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.linux.Epoll;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.probe.ProcessScope;
import io.inferspan.ebpf.probe.ProcessWatch;
import io.inferspan.ebpf.probe.ProcessWatch.Change;
import io.inferspan.ebpf.ring.EventHandler;
import io.inferspan.ebpf.ring.RingMemory;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.ring.RingThread;
import io.inferspan.ebpf.spans.EventSink;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A running bridge, which connects the packages of this module. */
public final class LiveBridge {

  private static final Duration FIRST_SCAN_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration RING_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration WATCH_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration LAST_EVENTS_TIMEOUT = Duration.ofMillis(100);

  private final KernelSide kernel;
  private final KernelCounters counters;
  private final KernelSettings settings;
  private final Identity identity;
  private final CloseStack parts;
  private final List<String> limits = new ArrayList<>();
  private final RingReader reader;
  private final EventSink sink;
  private final RingThread ring;
  private final ProcessWatch watch;
  private final IdleController idle;
  private final DetailSwitch detail;
  private final @Nullable BudgetKeeper budget;
  private final @Nullable OwnThreads ownThreads;
  private final AdoptedProcesses adopted;
  private volatile long lostSoFar;
  private boolean closed;

  /** Starts the thread that reads the ring, the last step of starting a bridge. */
  @FunctionalInterface
  public interface RingStart {
    RingThread start(RingReader reader, EventHandler handler, RingThread.Readiness readiness);
  }

  private LiveBridge(
      Telemetry telemetry,
      BridgeConfig config,
      KernelSide kernel,
      CloseStack parts,
      RingStart ringStart) {
    this.kernel = kernel;
    this.parts = parts;
    this.counters = kernel.counters();
    this.settings = kernel.settings();
    this.identity = kernel.identity();
    this.adopted = new AdoptedProcesses(identity.isTranslated() ? null : kernel.adoptions());
    if (config.measuresPrograms()) {
      measurePrograms();
    }
    beginSharing();
    RingMemory memory = parts.part(RingMemory.map(kernel.ringFd(), kernel.ringBytes()));
    this.reader = new RingReader(memory);
    this.sink = new EventSink(telemetry, KernelPlanner.folding(config), sources(config));
    Epoll epoll = parts.part(Epoll.watching(kernel.ringFd()));
    this.detail = new DetailSwitch(kernel, settings, sink.levels(), config.launches());
    this.idle = new IdleController(kernel.maySleep() ? config.sleepAfterNanos() : 0, probes());
    this.ownThreads = config.watchesOwnThreads() ? ownThreads() : null;
    this.watch = watch(config);
    parts.thread(() -> watch.close(WATCH_TIMEOUT));
    this.ring = ringStart.start(reader, sink, new RingReadiness(epoll, settings, config.budget()));
    parts.thread(() -> ring.close(RING_TIMEOUT));
    var readers = new BudgetKeeper.Readers(settings, counters, sink.accounting(), reader);
    this.budget = BudgetKeeper.of(config, kernel, readers, detail);
  }

  /** Loads, attaches and starts a bridge; cleans up and throws if that fails. */
  public static LiveBridge start(Telemetry telemetry, BridgeConfig config, RingStart ringStart) {
    KernelSettings.Cgroup cgroup = KernelPlanner.cgroup(config.scope());
    KernelSide kernel = KernelSide.load(KernelPlanner.plan(config));
    CloseStack parts = new CloseStack();
    try {
      LiveBridge bridge = new LiveBridge(telemetry, config, kernel, parts, ringStart);
      bridge.begin(config, cgroup);
      return bridge;
    } catch (RuntimeException | Error refused) {
      parts.undo(kernel, refused);
      throw refused;
    }
  }

  private void begin(BridgeConfig config, KernelSettings.Cgroup cgroup) {
    settings.begin(KernelPlanner.of(config, identity.tgid(), cgroup));
    idle.begin();
    if (budget != null) {
      budget.start();
    }
    if (isBlindFor(config.scope())) {
      limits.add(
          "processes cannot be selected by pid or name in a PID namespace other than the host's:"
              + " share the host's (hostPID, docker run --pid host)");
    }
    if (!watch.awaitFirstScan(FIRST_SCAN_TIMEOUT)) {
      limits.add("calls of running processes are missing until all their libraries are found");
    }
  }

  /** Starts sharing contexts. Must be called before a thread can publish its context. */
  private void beginSharing() {
    SharedContexts shared = kernel.shared();
    if (shared != null) {
      shared.begin(identity.tgid(), identity.isTranslated());
    }
  }

  private ProcessWatch watch(BridgeConfig config) {
    int ownPid = config.watchesOwnThreads() ? (int) ProcessHandle.current().pid() : 0;
    return ProcessWatch.start(
        new ProcessScope(KernelPlanner.choice(config.scope())),
        new ProcessWatch.Parts(
            kernel.libraries(), kernel.targets(), this::tidyUp, identity.isTranslated(), ownPid));
  }

  private EventSink.Sources sources(BridgeConfig config) {
    return new EventSink.Sources(
        Clocks::monotonicNanos,
        Clocks::realtimeNanos,
        counters::lost,
        kernel::owner,
        identity::processOf,
        kernel.sums(settings),
        ReferenceClock.start(config.clockReference(), parts::part),
        this::control);
  }

  private void measurePrograms() {
    try {
      parts.part(RunStats.enable());
    } catch (RuntimeException refused) {
      limits.add(String.valueOf(refused.getMessage()));
    }
  }

  private @Nullable OwnThreads ownThreads() {
    if (!PublishingContextStorage.install()) {
      limits.add("own threads are not observed: attach the bridge before OpenTelemetry is used");
      return null;
    }
    OwnMemory memory = kernel.ownMemory();
    SharedContexts shared = kernel.shared();
    OwnThreads threads =
        new OwnThreads(
            memory.contexts(),
            memory,
            identity::currentTid,
            shared != null && shared.isPublishing() ? shared : null,
            idle.signal());
    if (!PublishingContextStorage.start(threads)) {
      limits.add("own threads are observed by another bridge in this process");
      return null;
    }
    return parts.part(threads);
  }

  private IdleController.Probes probes() {
    return new IdleController.Probes() {
      @Override
      public boolean areServing() {
        return kernel.isServing() || (ownThreads != null && ownThreads.isServing());
      }

      @Override
      public void sleep() {
        detail.sleep();
      }

      @Override
      public void wake() {
        detail.wake();
      }

      @Override
      public void callSoon() {
        watch.callSoon();
      }

      @Override
      public void beganUnseen(long owner) {
        sink.beganUnseen(owner);
      }
    };
  }

  /** Returns whether processes are selected by pid or name, but pids differ from the kernel's. */
  private boolean isBlindFor(BridgeScope scope) {
    return identity.isTranslated() && !(scope.pids().isEmpty() && scope.commands().isEmpty());
  }

  /** Handles an event that becomes no span. Must not wait, because it runs on the ring's thread. */
  private void control(Kind kind, EventView event) {
    switch (kind) {
      case LIBRARY_APPEARED -> watch.note(Change.MAPPED, event.tgid());
      case PROCESS_STARTED -> watch.note(Change.STARTED, event.tgid());
      case PROCESS_EXITED -> watch.note(Change.EXITED, event.tgid());
      case OWNER_BEGAN -> idle.requestBegan();
      default -> {}
    }
  }

  private void tidyUp() {
    OwnThreads threads = ownThreads;
    if (threads != null) {
      threads.sweep();
    }
    idle.check();
    long lost = counters.lost();
    if (lost != lostSoFar) {
      lostSoFar = lost;
      watch.missed();
    }
  }

  KernelCounters counters() {
    return counters;
  }

  EventSink sink() {
    return sink;
  }

  RingReader reader() {
    return reader;
  }

  /** Synchronized, because {@link #close} unmaps the ring. */
  synchronized long backlogBytes() {
    return closed ? 0 : reader.backlogBytes();
  }

  /** Returns the state of every program. */
  public List<ProgramState> programs() {
    return kernel.programs();
  }

  /** Returns the current state of a program. */
  ProgramState now(ProgramState program) {
    return kernel.now(program);
  }

  List<LibraryProbes.Library> libraries() {
    return kernel.libraries().stream().flatMap(each -> each.libraries().stream()).toList();
  }

  int ownThreadCount() {
    OwnThreads threads = ownThreads;
    return threads == null ? 0 : threads.registered();
  }

  /** Returns how often this failure occurred. */
  long count(Failure failure) {
    OwnThreads threads = ownThreads;
    return switch (failure) {
      case LIBRARY -> kernel.libraries().stream().mapToLong(LibraryProbes::failures).sum();
      case PROCESS -> watch.failures();
      case TARGET -> watch.refusals();
      case RING -> ring.failures();
      case OWN_THREAD -> threads == null ? 0 : threads.refusals();
      case SWITCH -> threads == null ? 0 : threads.failures();
    };
  }

  /** Returns the adopted processes. */
  public AdoptedProcesses adopted() {
    return adopted;
  }

  IdleController idle() {
    return idle;
  }

  DetailSwitch detail() {
    return detail;
  }

  /** Returns the limitations of this bridge, except programs that are not attached. */
  public List<String> limits() {
    return List.copyOf(limits);
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Writes pending spans and detaches from the kernel, within the timeout if possible. */
  public void close(Duration bound) {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    long start = System.nanoTime();
    OwnThreads threads = ownThreads;
    if (threads != null) {
      threads.close();
    }
    adopted.close();
    settings.stop();
    awaitLastEvents();
    kernel.withdraw();
    boolean ended = ring.close(RING_TIMEOUT);
    if (ended) {
      sink.flush();
    }
    leaveKernel(bound.minusNanos(System.nanoTime() - start), ended);
  }

  /** Waits briefly for events that programs are still writing. */
  private void awaitLastEvents() {
    long deadline = System.nanoTime() + LAST_EVENTS_TIMEOUT.toNanos();
    while (sink.accounting().consumed() + counters.lost(RING_FULL) < counters.produced()
        && System.nanoTime() < deadline) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** Detaches on another thread, because many seconds pass if each function has a perf event. */
  private void leaveKernel(Duration bound, boolean ringEnded) {
    Thread leaving =
        Thread.ofPlatform()
            .daemon()
            .name("inferspan-ebpf-close")
            .start(() -> releaseAll(ringEnded));
    try {
      if (bound.isPositive()) {
        leaving.join(bound);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void releaseAll(boolean ringEnded) {
    // The threads that attach probes end before all programs are detached.
    boolean budgetEnded = budget == null || budget.close();
    boolean watchEnded = watch.close(WATCH_TIMEOUT) && budgetEnded;
    ReferenceClock clock = sink.reference();
    if (clock != null) {
      clock.close(); // Always safe: its thread does not use the kernel side.
    }
    kernel.detach();
    // Memory that a thread may still read is freed when the process exits.
    if (ringEnded && watchEnded) {
      parts.close();
      kernel.close();
    }
  }
}
