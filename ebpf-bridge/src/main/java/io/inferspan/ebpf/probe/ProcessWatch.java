package io.inferspan.ebpf.probe;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A daemon thread that tracks the selected processes: it finds their libraries, and removes
 * processes that exit.
 *
 * <p>Events report changes. All processes are scanned at the start, and when a change may have been
 * missed because events were lost or the queue was full.
 */
public final class ProcessWatch implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final int MAX_NOTES = 4_096;
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The pause before new processes are examined; short-lived ones have exited by then. */
  private static final long START_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** The interval of checks for exits whose events were missed. */
  private static final long EXITS_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** The interval of checks for processes that change their name, which no event reports. */
  private static final long RENAMES_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final ProcessScope scope;
  private final Parts parts;
  private final BlockingQueue<Note> notes = new ArrayBlockingQueue<>(MAX_NOTES);

  /** Processes that have started and are not examined yet. */
  private final Set<Integer> started = ConcurrentHashMap.newKeySet();

  private final AtomicBoolean startsQueued = new AtomicBoolean();
  private final CountDownLatch scanned = new CountDownLatch(1);
  private final LongAdder failures = new LongAdder();
  private final LongAdder refusals = new LongAdder();
  private final Thread thread;

  /** Processes whose state is removed when they exit. Only the thread changes this set. */
  private final Set<Integer> known = ConcurrentHashMap.newKeySet();

  /** Cache of the processes that were not selected when they were found. */
  private final Set<Integer> notSelected = new HashSet<>();

  private long renamesCheckedNanos = System.nanoTime();
  private long sweptNanos;
  private long exitsCheckedNanos;
  private volatile boolean missed;
  private volatile boolean called;
  private volatile boolean closing;

  /** A change of a process. */
  public enum Change {
    /** It executes another program. */
    STARTED,
    /** It mapped a library of interest. */
    MAPPED,
    /** It exited. */
    EXITED
  }

  private record Note(Change change, int pid) {}

  /** Wakes the thread for {@link #callSoon}; no process has pid 0. */
  private static final Note CALL = new Note(Change.EXITED, 0);

  /** Wakes the thread for the processes that have started. */
  private static final Note STARTS = new Note(Change.STARTED, 0);

  /** The kernel's table of observed processes. */
  public interface Targets {

    /** Adds a process; returns false if the table is full. */
    boolean add(int pid);

    /** Removes a process. */
    void remove(int pid);
  }

  /**
   * The collaborators of the watch.
   *
   * @param libraries the probes on libraries
   * @param targets the kernel's table
   * @param housekeeping a task that runs about once a second, and after {@link #callSoon}
   * @param translated whether pids in events differ from those in {@code /proc}
   * @param ownPid the pid of this process if its libraries are observed; otherwise 0
   */
  public record Parts(
      List<LibraryProbes> libraries,
      Targets targets,
      Runnable housekeeping,
      boolean translated,
      int ownPid) {

    /** Copies the list. */
    public Parts {
      libraries = List.copyOf(libraries);
    }
  }

  private ProcessWatch(ProcessScope scope, Parts parts) {
    this.scope = scope;
    this.parts = parts;
    this.thread = Thread.ofPlatform().daemon().name("inferspan-ebpf-watch").unstarted(this::run);
  }

  /** Starts the first scan; see {@link #awaitFirstScan}. */
  public static ProcessWatch start(ProcessScope scope, Parts parts) {
    ProcessWatch watch = new ProcessWatch(scope, parts);
    watch.thread.start();
    return watch;
  }

  /** Waits until existing processes are scanned; returns false on timeout. */
  public boolean awaitFirstScan(Duration bound) {
    try {
      return scanned.await(bound.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Queues a change of a process; never blocks. */
  public void note(Change change, int pid) {
    if (change == Change.STARTED) {
      noteStart(pid);
      return;
    }
    if (change == Change.EXITED) {
      started.remove(pid);
      // Exits of unknown processes are ignored, unless a queued change may make the process known.
      if (notes.isEmpty() && !known.contains(pid)) {
        return;
      }
    }
    offer(new Note(change, pid));
  }

  private void noteStart(int pid) {
    if (started.size() < MAX_NOTES) {
      started.add(pid);
    } else {
      missed = true;
    }
    if (!startsQueued.getAndSet(true)) {
      offer(STARTS);
    }
  }

  private void offer(Note note) {
    if (!notes.offer(note)) {
      missed = true;
    }
  }

  /** Runs the periodic task soon; never blocks. */
  public void callSoon() {
    if (!called) {
      called = true;
      // If the queue is full, the thread is awake anyway.
      boolean ignored = notes.offer(CALL);
    }
  }

  /** Requests a scan because lost events may have reported changes. */
  public void missed() {
    missed = true;
  }

  private void run() {
    quietly(this::scan);
    scanned.countDown();
    while (!closing) {
      Note note = next();
      if (called) {
        called = false;
        quietly(parts.housekeeping());
      }
      if (note != null) {
        quietly(() -> follow(note));
      }
      quietly(this::checkPeriodically);
    }
  }

  private @Nullable Note next() {
    try {
      return notes.poll(SWEEP_NANOS, TimeUnit.NANOSECONDS);
    } catch (InterruptedException closed) {
      return null;
    }
  }

  private void quietly(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      failures.increment();
      LOGGER.log(
          Level.DEBUG, "Processes could not be examined; the next check is within a second", e);
    }
  }

  private void follow(Note note) {
    if (parts.translated()) {
      // The pid belongs to another PID namespace, so any process may have changed.
      if (note.change() != Change.EXITED) {
        missed = true;
      }
      return;
    }
    switch (note.change()) {
      case EXITED -> forget(note.pid());
      case STARTED -> lookAtStarted();
      case MAPPED -> look(note.pid());
    }
  }

  /** Examines the processes that have started and not exited. */
  private void lookAtStarted() {
    LockSupport.parkNanos(START_PAUSE_NANOS);
    startsQueued.set(false);
    for (int pid : List.copyOf(started)) {
      if (started.remove(pid)) {
        quietly(() -> look(pid, LibraryProbes::lookAtProgram));
      }
    }
  }

  private void forget(int pid) {
    if (!known.remove(pid)) {
      return;
    }
    if (!scope.isEverything()) {
      // The kernel removes processes that exit, but this one may have exited before it was added.
      removeTarget(pid);
    }
    if (parts.libraries().stream().anyMatch(each -> each.isWatchedOnlyFor(pid))) {
      // Its children may map its libraries, too, and no event has reported them.
      findUnreported();
    }
    parts.libraries().forEach(each -> each.forget(pid));
  }

  private void look(int pid) {
    look(pid, LibraryProbes::look);
  }

  private void look(int pid, ObjIntConsumer<LibraryProbes> examine) {
    boolean own = pid == parts.ownPid();
    boolean chosen = !own && scope.includes(pid);
    if (chosen && scope.growsUnseen()) {
      // Added first, so that its exit is queued from now on.
      known.add(pid);
    }
    if (!scope.isEverything()) {
      updateTarget(pid, chosen);
    }
    if (own || chosen) {
      parts.libraries().forEach(each -> examine.accept(each, pid));
      if (scope.isEverything() && isRemembered(pid)) {
        known.add(pid);
      }
    } else {
      forget(pid);
    }
  }

  private boolean isRemembered(int pid) {
    return parts.libraries().stream().anyMatch(one -> one.remembers(pid));
  }

  private void updateTarget(int pid, boolean chosen) {
    if (!chosen) {
      removeTarget(pid);
    } else if (!parts.translated() && !parts.targets().add(pid)) {
      // The table was full.
      refusals.increment();
    }
  }

  private void removeTarget(int pid) {
    if (!parts.translated()) {
      parts.targets().remove(pid);
    }
  }

  private void scan() {
    missed = false;
    startsQueued.set(false);
    started.clear();
    scope.all().forEach(this::look);
  }

  /**
   * Finds selected processes that no event reported: children that executed no program, and
   * processes that were moved into the cgroup.
   */
  private void findUnreported() {
    Set<Integer> all = new HashSet<>(scope.all());
    if (scope.hasGroup()) {
      notSelected.clear();
    }
    notSelected.retainAll(all);
    Map<Integer, Boolean> descends = new HashMap<>();
    for (int pid : all) {
      if (!known.contains(pid) && notSelected.add(pid) && scope.includes(pid, descends)) {
        notSelected.remove(pid);
        look(pid);
      }
    }
    known.stream().filter(pid -> !all.contains(pid)).toList().forEach(this::forget);
  }

  private void checkPeriodically() {
    long nowNanos = System.nanoTime();
    if (nowNanos - sweptNanos < SWEEP_NANOS) {
      return;
    }
    sweptNanos = nowNanos;
    quietly(parts.housekeeping());
    boolean exitsMissed = missed || parts.translated();
    if (nowNanos - renamesCheckedNanos >= RENAMES_NANOS) {
      renamesCheckedNanos = nowNanos;
      notSelected.clear();
    }
    if (missed) {
      scan();
    } else if (scope.growsUnseen()) {
      findUnreported();
    }
    if (exitsMissed || nowNanos - exitsCheckedNanos >= EXITS_NANOS) {
      exitsCheckedNanos = nowNanos;
      parts.libraries().forEach(LibraryProbes::sweep);
      if (scope.growsUnseen()) {
        forgetUnselected();
      } else {
        known.removeIf(pid -> !isRemembered(pid));
      }
    }
  }

  /** Removes processes that are no longer selected because their pid was reused. */
  private void forgetUnselected() {
    known.stream()
        .filter(pid -> pid != parts.ownPid() && !scope.includes(pid))
        .toList()
        .forEach(this::forget);
  }

  /** Returns how often a process was not added because the kernel's table was full. */
  public long refusals() {
    return refusals.sum();
  }

  /** Returns how often handling a process failed. */
  public long failures() {
    return failures.sum();
  }

  /**
   * Ends the thread; returns false if that takes longer than {@code bound}. Probes stay attached.
   */
  public boolean close(Duration bound) {
    closing = true;
    thread.interrupt();
    try {
      return thread.join(bound);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public void close() {
    close(Duration.ofSeconds(2));
  }
}
