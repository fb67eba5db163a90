package io.inferspan.ebpf.probe;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The one daemon that follows processes: it finds the libraries of those of interest, and forgets
 * those that are gone.
 *
 * <p>It is told of processes by events, and looks at all of them at the beginning and whenever
 * something may have been missed: when events were lost, or it was told more than it could note.
 */
public final class ProcessWatch implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final int MAX_NOTES = 4_096;
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Ends are told of; to ask for each process whether it is still there is for those missed. */
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final ProcessScope scope;
  private final Parts parts;
  private final BlockingQueue<Note> notes = new ArrayBlockingQueue<>(MAX_NOTES);
  private final CountDownLatch lookedAround = new CountDownLatch(1);
  private final LongAdder failures = new LongAdder();
  private final LongAdder refusals = new LongAdder();
  private final Thread thread;

  /** Processes of which something is to be forgotten once they end; only our thread changes it. */
  private final Set<Integer> known = ConcurrentHashMap.newKeySet();

  private long sweptNanos;
  private long askedNanos;
  private volatile boolean missed;
  private volatile boolean called;
  private volatile boolean closing;

  /** What a process did. */
  public enum Change {
    /** It runs another program now. */
    STARTED,
    /** It mapped a library of interest. */
    MAPPED,
    /** It is gone. */
    EXITED
  }

  private record Note(Change change, int pid) {}

  /** Ends the wait for a note: there is no process of this number to be forgotten. */
  private static final Note CALL = new Note(Change.EXITED, 0);

  /** The table of processes that the kernel is told of. */
  public interface Targets {

    /** Adds a process; false where there is no room. */
    boolean add(int pid);

    /** Takes it out. */
    void remove(int pid);
  }

  /**
   * What the watch works for.
   *
   * @param libraries those who attach to libraries
   * @param targets the kernel's table
   * @param often called about once a second and when {@link #callSoon} asks for it, for what else
   *     must be tidied up
   * @param translated whether numbers in events are not those of {@code /proc}
   * @param ownPid a process whose libraries are of interest anyway, but that is no target; or 0
   */
  public record Parts(
      List<LibraryProbes> libraries,
      Targets targets,
      Runnable often,
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

  /** Begins to look around; see {@link #awaitFirstLook}. */
  public static ProcessWatch start(ProcessScope scope, Parts parts) {
    ProcessWatch watch = new ProcessWatch(scope, parts);
    watch.thread.start();
    return watch;
  }

  /** Waits until the processes that were there are looked at; false where that takes longer. */
  public boolean awaitFirstLook(Duration bound) {
    try {
      return lookedAround.await(bound.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Notes what a process did; never waits. */
  public void note(Change change, int pid) {
    // Most that end never mattered; where notes wait, the one that makes it matter may be there.
    if (change == Change.EXITED && notes.isEmpty() && !known.contains(pid)) {
      return;
    }
    if (!notes.offer(new Note(change, pid))) {
      missed = true;
    }
  }

  /** Has our thread do at once what it does about once a second; never waits. */
  public void callSoon() {
    if (!called) {
      called = true;
      // Where there is no room it does not wait either.
      boolean ignored = notes.offer(CALL);
    }
  }

  /** Notes that events were lost, some of which may have told of processes. */
  public void missed() {
    missed = true;
  }

  private void run() {
    quietly(this::lookAround);
    lookedAround.countDown();
    while (!closing) {
      Note note = next();
      if (called) {
        called = false;
        quietly(parts.often());
      }
      if (note != null) {
        quietly(() -> follow(note));
      }
      quietly(this::tidyUp);
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
      LOGGER.log(Level.DEBUG, "A process could not be followed", e);
    }
  }

  private void follow(Note note) {
    if (parts.translated()) {
      // The number means nothing here; some process did something.
      if (note.change() != Change.EXITED) {
        missed = true;
      }
      return;
    }
    switch (note.change()) {
      case EXITED -> forget(note.pid());
      case STARTED -> look(note.pid(), LibraryProbes::lookAtProgram);
      case MAPPED -> look(note.pid());
    }
  }

  private void forget(int pid) {
    if (!known.remove(pid)) {
      return;
    }
    if (!scope.isEverything()) {
      // The kernel takes out who ends, but not who had ended before we added it.
      takeOut(pid);
    }
    if (parts.libraries().stream().anyMatch(each -> each.isWatchedFor(pid))) {
      // Its children have its libraries too, and nobody told of them.
      lookForNewOnes();
    }
    parts.libraries().forEach(each -> each.forget(pid));
  }

  private void look(int pid) {
    look(pid, LibraryProbes::look);
  }

  private void look(int pid, ObjIntConsumer<LibraryProbes> closely) {
    boolean own = pid == parts.ownPid();
    boolean chosen = !own && scope.includes(pid);
    if (chosen && scope.growsUnseen()) {
      // First, so that its end is noted from now on.
      known.add(pid);
    }
    if (!scope.isEverything()) {
      tellOf(pid, chosen);
    }
    if (own || chosen) {
      parts.libraries().forEach(each -> closely.accept(each, pid));
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

  private void tellOf(int pid, boolean chosen) {
    if (!chosen) {
      takeOut(pid);
    } else if (!parts.translated() && !parts.targets().add(pid)) {
      // In a namespace, who bears that number outside is a stranger.
      refusals.increment();
    }
  }

  private void takeOut(int pid) {
    if (!parts.translated()) {
      parts.targets().remove(pid);
    }
  }

  private void lookAround() {
    missed = false;
    scope.all().forEach(this::look);
  }

  /** Those of whom nobody tells: children that start no program of their own, and who is moved. */
  private void lookForNewOnes() {
    Set<Integer> there = new HashSet<>(scope.all());
    there.stream().filter(pid -> !known.contains(pid) && scope.includes(pid)).forEach(this::look);
    known.stream().filter(pid -> !there.contains(pid)).toList().forEach(this::forget);
  }

  private void tidyUp() {
    long nowNanos = System.nanoTime();
    if (nowNanos - sweptNanos < SWEEP_NANOS) {
      return;
    }
    sweptNanos = nowNanos;
    quietly(parts.often());
    boolean blind = missed || parts.translated();
    if (missed) {
      lookAround();
    } else if (scope.growsUnseen()) {
      lookForNewOnes();
    }
    if (blind || nowNanos - askedNanos >= ASK_NANOS) {
      askedNanos = nowNanos;
      parts.libraries().forEach(LibraryProbes::sweep);
      if (scope.growsUnseen()) {
        leaveStrangers();
      } else {
        known.removeIf(pid -> !isRemembered(pid));
      }
    }
  }

  /** Whoever bears the number of one that ended, and began no program of its own. */
  private void leaveStrangers() {
    known.stream()
        .filter(pid -> pid != parts.ownPid() && !scope.includes(pid))
        .toList()
        .forEach(this::forget);
  }

  /** How often the kernel had no room for a process of interest. */
  public long refusals() {
    return refusals.sum();
  }

  /** How often something went wrong with a process. */
  public long failures() {
    return failures.sum();
  }

  /** Ends, within a bound; what is attached stays attached. */
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
