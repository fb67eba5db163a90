package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.wire.Kind.PROCESS_EXITED;
import static io.inferspan.ebpf.wire.Kind.PROCESS_STARTED;
import static java.util.stream.Collectors.toList;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.StackEvents.Collected;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Activity;
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

  private final Outcome outcome;
  private final Collected collected;
  private final List<Event> events;
  private final Set<Integer> processes;
  private final PhaseTimeline phases;
  private final List<ThreadTimeline> mainThreads;
  private final List<ThreadTimeline> busyThreads = new ArrayList<>();
  private final List<ThreadClass> classes = new ArrayList<>();

  /**
   * The result of observing a start: its bounds, its readiness, and its threads at the end.
   *
   * @param pid the first process of the start
   * @param startNanos when the command was resumed, or when following a running process began
   * @param ready when the server was ready, and how that was detected
   * @param listenNanos when its first TCP socket began to listen; 0 if none did
   * @param lost the number of lost events
   * @param tasks the threads that existed at the end, by tid
   */
  public record Outcome(
      int pid,
      long startNanos,
      Readiness.Ready ready,
      long listenNanos,
      long lost,
      Map<Integer, Task> tasks) {

    /** Captures the threads now, just after readiness was detected. */
    public static Outcome of(
        ProcessHandle root, long startNanos, Readiness.Ready ready, long listenNanos, long lost) {
      return new Outcome((int) root.pid(), startNanos, ready, listenNanos, lost, Task.of(root));
    }
  }

  /**
   * Threads of a process, except the main thread, that share a name or are summed up because they
   * do little.
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
   * @param activity the state and call that took the most time
   * @param why the code that it ran, or the thread that ended its wait; empty if unknown
   * @param file the last file that the process opened before the interval; may be empty
   */
  record Explained(
      ThreadTimeline.Id thread,
      long startNanos,
      long endNanos,
      Activity activity,
      String why,
      String file) {

    String text() {
      return activity.state().word()
          + (activity.call().isEmpty() ? "" : " in " + activity.call())
          + ", "
          + thread
          + (why.isEmpty() ? "" : ", " + why)
          + (file.isEmpty() ? "" : ", after it opened " + file);
    }
  }

  /** Analyses the observed events and stacks of a start. */
  public static ColdStart of(Observation observation, StackEvents stacks, Outcome outcome) {
    return new ColdStart(observation.events(), stacks.collected(), outcome);
  }

  ColdStart(List<Event> observed, Collected collected, Outcome outcome) {
    this.outcome = outcome;
    this.collected = collected;
    this.processes =
        observed.stream()
            .filter(event -> event.kind().family() != Family.CONTROL)
            .map(Event::pid)
            .collect(Collectors.toSet());
    processes.add(outcome.pid());
    long start = begin(observed);
    // Earlier events are those of the shell that later executes the command.
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
        pid == outcome.pid()
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
    Task task = outcome.tasks().get(id.tid());
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
    Task task = outcome.tasks().get(tid);
    String name = task == null ? collected.names().getOrDefault(tid, "") : task.name();
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
        .filter(event -> event.kind() == PROCESS_STARTED && event.pid() == outcome.pid())
        .mapToLong(Event::startNanos)
        .filter(nanos -> nanos >= outcome.startNanos())
        .findFirst()
        .orElse(outcome.startNanos());
  }

  private long end(long start) {
    long ready = outcome.ready().nanos();
    long exit =
        events.stream()
            .filter(event -> event.kind() == PROCESS_EXITED && event.pid() == outcome.pid())
            .mapToLong(Event::startNanos)
            .findFirst()
            .orElse(ready);
    return Math.max(start, Math.min(ready, exit));
  }

  Outcome outcome() {
    return outcome;
  }

  /** Returns a title with the time to readiness and the number of active processes. */
  String title() {
    return String.format(
        Locale.ROOT,
        "%s after %.3f s, %d %s",
        outcome.ready().cause().sentence(),
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
   * Returns the other threads that ran, or waited for a CPU, a disk or a device, for at least 2 %
   * of the wall time.
   */
  List<ThreadTimeline> busyThreads() {
    return busyThreads;
  }

  /** Returns the classes of a process's threads, without its main thread. */
  List<ThreadClass> classes(int pid) {
    return classes.stream().filter(each -> each.pid() == pid).toList();
  }

  /** Explains a gap by its busiest main thread. */
  Explained explained(PhaseTimeline.Interval gap) {
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
  List<Explained> intervals() {
    return Stream.concat(mainThreads.stream(), busyThreads.stream())
        .flatMap(
            thread ->
                thread.intervals(phases.longNanos()).stream()
                    .filter(part -> thread.id().isMain() || part.state().isBusy())
                    .map(part -> explained(thread, part.startNanos(), part.endNanos())))
        .sorted(Comparator.comparingLong(Explained::startNanos))
        .toList();
  }

  private Explained explained(ThreadTimeline thread, long from, long to) {
    ThreadTimeline.Id id = thread.id();
    Activity activity = thread.longestActivity(from, to);
    String why = collected.why(id.tid(), activity.state(), from, to);
    return new Explained(id, from, to, activity, why, lastFile(id.pid(), from));
  }

  /**
   * Returns the path of the last file that a process opened before this time; empty if there is
   * none.
   */
  private String lastFile(int pid, long nanos) {
    return events.stream()
        .filter(event -> event.pid() == pid && event.startNanos() <= nanos)
        .filter(event -> event.kind() == Kind.SYSCALL_OPENAT && event.result() >= 0)
        .reduce((earlier, later) -> later)
        .map(Event::text)
        .orElse("");
  }

  /** Returns the entry and the exit of each call, ordered by time. */
  public List<CallRecord> records() {
    return Observation.records(events);
  }
}
