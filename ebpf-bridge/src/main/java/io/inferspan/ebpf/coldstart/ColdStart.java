package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.wire.Kind.PROCESS_EXITED;
import static io.inferspan.ebpf.wire.Kind.PROCESS_STARTED;
import static java.util.stream.Collectors.toList;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.StackEvents.Seen;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Last;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Task;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An analysis of one observed start of a server. */
public final class ColdStart {

  private static final double NANOS_PER_SECOND = 1e9;

  private final Scene scene;
  private final Seen seen;
  private final List<Event> events;
  private final Set<Integer> processes;
  private final PhaseTimeline phases;
  private final List<ThreadTimeline> mainThreads;
  private final List<ThreadTimeline> busyThreads = new ArrayList<>();
  private final List<ThreadClass> classes = new ArrayList<>();

  /**
   * The bounds and the outcome of a start.
   *
   * @param pid the first process of the start
   * @param startNanos when the command was resumed, or when following a running process began
   * @param ready when the server was ready, and how that was detected
   * @param listenNanos when its first socket listened; 0 if none did
   * @param lost the number of lost events
   * @param tasks the threads that existed at the end, by tid
   */
  public record Scene(
      int pid,
      long startNanos,
      Readiness.Ready ready,
      long listenNanos,
      long lost,
      Map<Integer, Task> tasks) {

    /** Captures the threads now, just after readiness was detected. */
    public static Scene of(
        ProcessHandle root, long startNanos, Readiness.Ready ready, long listenNanos, long lost) {
      return new Scene((int) root.pid(), startNanos, ready, listenNanos, lost, Task.of(root));
    }
  }

  /**
   * Threads of a process that share a name, or that are summed up because they do little; never the
   * main thread.
   *
   * @param states the sums over these threads
   */
  record ThreadClass(int pid, String name, int threads, Map<ThreadState, Long> states) {

    long nanos() {
      return states.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /**
   * An interval of a thread, with an explanation.
   *
   * @param most the state that it was in longest, with the call
   * @param why the code that it ran, or the thread that ended its wait; empty if unknown
   * @param file the last file that the process opened before the interval; may be empty
   */
  record Explained(
      ThreadTimeline.Id thread,
      long startNanos,
      long endNanos,
      Last most,
      String why,
      String file) {

    String text() {
      return most.state().word()
          + (most.call().isEmpty() ? "" : " in " + most.call())
          + ", "
          + thread
          + (why.isEmpty() ? "" : ", " + why)
          + (file.isEmpty() ? "" : ", after it opened " + file);
    }
  }

  /** Analyses the observed events and stacks of a start. */
  public static ColdStart of(Observation observation, StackEvents stacks, Scene scene) {
    return new ColdStart(observation.events(), stacks.seen(), scene);
  }

  ColdStart(List<Event> observed, Seen seen, Scene scene) {
    this.scene = scene;
    this.seen = seen;
    this.processes =
        observed.stream()
            .filter(event -> event.kind().family() != Family.CONTROL)
            .map(Event::pid)
            .collect(Collectors.toSet());
    processes.add(scene.pid());
    long start = begin(observed);
    // Before it becomes the command, the process is the stopped shell.
    this.events =
        observed.stream()
            .filter(event -> processes.contains(event.pid()) && event.startNanos() >= start)
            .toList();
    this.phases = new PhaseTimeline(Phase.evidence(events), start, end(start));
    Map<Integer, List<Event>> byThread =
        events.stream().collect(Collectors.groupingBy(Event::tid, TreeMap::new, toList()));
    this.mainThreads =
        processes.stream()
            .sorted()
            .map(pid -> mainThread(pid, byThread.getOrDefault(pid, List.of())))
            .toList();
    processes.stream().sorted().forEach(pid -> otherThreads(pid, byThread));
  }

  /**
   * Returns the timeline from the process's first event to its exit, within the bounds of the
   * start.
   */
  private ThreadTimeline mainThread(int pid, List<Event> own) {
    long from =
        pid == scene.pid()
            ? phases.startNanos()
            : events.stream()
                .filter(event -> event.pid() == pid)
                .mapToLong(Event::startNanos)
                .findFirst()
                .orElse(phases.startNanos());
    long to =
        events.stream()
            .filter(event -> event.pid() == pid && event.kind() == PROCESS_EXITED)
            .mapToLong(Event::startNanos)
            .findFirst()
            .orElse(phases.endNanos());
    return timeline(new ThreadTimeline.Id(pid, pid, ""), own, from, to);
  }

  private ThreadTimeline timeline(ThreadTimeline.Id id, List<Event> own, long from, long to) {
    Task task = scene.tasks().get(id.tid());
    long begin = Math.min(from, phases.endNanos());
    long end = Math.clamp(to, begin, phases.endNanos());
    return new ThreadTimeline(id, own, begin, end, task == null ? null : task.last());
  }

  /** Sums up the other threads of a process by name, and keeps the busy ones. */
  private void otherThreads(int pid, Map<Integer, List<Event>> byThread) {
    Map<String, List<Map<ThreadState, Long>>> families = new TreeMap<>();
    byThread.forEach(
        (tid, own) -> {
          if (own.getFirst().pid() != pid || tid == pid) {
            return;
          }
          ThreadTimeline thread = otherThread(pid, tid, own);
          families
              .computeIfAbsent(thread.id().family(), name -> new ArrayList<>())
              .add(thread.states(phases.startNanos(), phases.endNanos()));
          if (isLong(thread.busyNanos(phases.startNanos(), phases.endNanos()))) {
            busyThreads.add(thread);
          }
        });
    List<Map<ThreadState, Long>> others = new ArrayList<>();
    families.forEach(
        (name, threads) -> {
          ThreadClass all = sum(pid, name, threads);
          if (isLong(ThreadTimeline.busyNanos(all.states()))) {
            classes.add(all);
          } else {
            others.addAll(threads);
          }
        });
    if (!others.isEmpty()) {
      classes.add(sum(pid, "others", others));
    }
  }

  /**
   * Returns the timeline from the thread's first event to its last, or to the end of the start if
   * it still exists.
   */
  private ThreadTimeline otherThread(int pid, int tid, List<Event> own) {
    Task task = scene.tasks().get(tid);
    String name = task == null ? seen.names().getOrDefault(tid, "") : task.name();
    long last = own.stream().mapToLong(Event::endNanos).max().orElse(0);
    return timeline(
        new ThreadTimeline.Id(pid, tid, name),
        own,
        own.getFirst().startNanos(),
        task == null ? last : phases.endNanos());
  }

  private static ThreadClass sum(int pid, String name, List<Map<ThreadState, Long>> threads) {
    Map<ThreadState, Long> states = new EnumMap<>(ThreadState.class);
    threads.forEach(
        thread -> thread.forEach((state, nanos) -> states.merge(state, nanos, Long::sum)));
    return new ThreadClass(pid, name, threads.size(), states);
  }

  private boolean isLong(long nanos) {
    return nanos >= phases.longNanos();
  }

  /** Returns when the process began to execute the command, or else when following began. */
  private long begin(List<Event> observed) {
    return observed.stream()
        .filter(event -> event.kind() == PROCESS_STARTED && event.pid() == scene.pid())
        .mapToLong(Event::startNanos)
        .filter(nanos -> nanos >= scene.startNanos())
        .findFirst()
        .orElse(scene.startNanos());
  }

  private long end(long start) {
    long ready = scene.ready().nanos();
    long exit =
        events.stream()
            .filter(event -> event.kind() == PROCESS_EXITED && event.pid() == scene.pid())
            .mapToLong(Event::startNanos)
            .findFirst()
            .orElse(ready);
    return Math.max(start, Math.min(ready, exit));
  }

  Scene scene() {
    return scene;
  }

  /** Returns a title with the time to readiness and the number of active processes. */
  String title() {
    return String.format(
        Locale.ROOT,
        "%s after %.3f s, %d %s",
        scene.ready().cause().sentence(),
        phases.wallNanos() / NANOS_PER_SECOND,
        processes.size(),
        processes.size() == 1 ? "process" : "processes");
  }

  PhaseTimeline phases() {
    return phases;
  }

  /** Returns the main thread of each process. */
  List<ThreadTimeline> mainThreads() {
    return mainThreads;
  }

  /**
   * Returns the other threads that ran, or waited for disks or devices, for at least 2 % of the
   * wall time.
   */
  List<ThreadTimeline> busyThreads() {
    return busyThreads;
  }

  /** Returns all threads of a process except its main thread, in classes. */
  List<ThreadClass> classes(int pid) {
    return classes.stream().filter(each -> each.pid() == pid).toList();
  }

  /** Explains a gap by its busiest main thread. */
  Explained explained(PhaseTimeline.Stretch gap) {
    long from = gap.startNanos();
    long to = gap.endNanos();
    return mainThreads.stream()
        .max(Comparator.comparingLong(thread -> thread.busyNanos(from, to)))
        .map(thread -> explained(thread, from, to))
        .orElseThrow();
  }

  /**
   * Returns long intervals without a change of state, ordered by start; for threads other than main
   * threads, only busy ones.
   */
  List<Explained> stretches() {
    return Stream.concat(mainThreads.stream(), busyThreads.stream())
        .flatMap(
            thread ->
                thread.stretches(phases.longNanos()).stream()
                    .filter(part -> thread.id().isMain() || part.state().isBusy())
                    .map(part -> explained(thread, part.startNanos(), part.endNanos())))
        .sorted(Comparator.comparingLong(Explained::startNanos))
        .toList();
  }

  private Explained explained(ThreadTimeline thread, long from, long to) {
    ThreadTimeline.Id id = thread.id();
    Last most = thread.most(from, to);
    String why = seen.why(id.tid(), most.state(), from, to);
    return new Explained(id, from, to, most, why, lastFile(id.pid(), from));
  }

  /** Returns the last file that a process opened before this time; empty if there is none. */
  private String lastFile(int pid, long nanos) {
    return events.stream()
        .filter(event -> event.pid() == pid && event.startNanos() <= nanos)
        .filter(event -> event.kind() == Kind.SYSCALL_OPENAT && event.result() >= 0)
        .reduce((earlier, later) -> later)
        .map(Event::text)
        .orElse("");
  }

  /** Returns the enter and the exit of each call, ordered by time. */
  public List<CallRecord> records() {
    return Observation.records(events);
  }
}
