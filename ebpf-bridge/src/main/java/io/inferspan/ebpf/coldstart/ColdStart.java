package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.wire.Kind.PROCESS_EXITED;
import static io.inferspan.ebpf.wire.Kind.PROCESS_STARTED;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.StackEvents.Seen;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Last;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** One start of a server, as it was observed. */
public final class ColdStart {

  private static final double NANOS_PER_SECOND = 1e9;

  private final Scene scene;
  private final Seen seen;
  private final List<Event> events;
  private final Set<Integer> processes;
  private final PhaseTimeline phases;
  private final List<ThreadTimeline> mainThreads;

  /**
   * How a start was bounded.
   *
   * @param pid the process that the start began with
   * @param startNanos when it was let go, or followed
   * @param ready when it was ready, and how that was known
   * @param listenNanos when a socket of it was first seen to listen; 0 where none was
   * @param lost events that were lost or found no room
   * @param last what main threads that did not run in the end waited in, by process
   */
  public record Scene(
      int pid,
      long startNanos,
      Readiness.Ready ready,
      long listenNanos,
      long lost,
      Map<Integer, Last> last) {

    /** At this moment, in which it is known to be ready. */
    public static Scene of(
        ProcessHandle root, long startNanos, Readiness.Ready ready, long listenNanos, long lost) {
      return new Scene((int) root.pid(), startNanos, ready, listenNanos, lost, Last.waiting(root));
    }
  }

  /**
   * A time of a main thread.
   *
   * @param most what it mostly did
   * @param why where it ran, or who ended its wait; empty where that is not known
   * @param file what the process had opened last; may be empty
   */
  record Explained(int pid, long startNanos, long endNanos, Last most, String why, String file) {

    String text() {
      return most.state().word()
          + (most.call().isEmpty() ? "" : " in " + most.call())
          + ", process "
          + pid
          + (why.isEmpty() ? "" : ", " + why)
          + (file.isEmpty() ? "" : ", after it opened " + file);
    }
  }

  /** Looks at what was seen of a start. */
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
    // Until it becomes the command, the process is the shell that waits to be let go.
    this.events =
        observed.stream()
            .filter(event -> processes.contains(event.pid()) && event.startNanos() >= start)
            .toList();
    this.phases = new PhaseTimeline(Phase.evidence(events), start, end(start));
    this.mainThreads = processes.stream().sorted().map(this::mainThread).toList();
  }

  /** From its first event, or the begin of all, to its process's end, or the end of all. */
  private ThreadTimeline mainThread(int pid) {
    List<Event> own = events.stream().filter(event -> event.pid() == pid).toList();
    long from =
        pid == scene.pid() || own.isEmpty()
            ? phases.startNanos()
            : Math.min(own.getFirst().startNanos(), phases.endNanos());
    long to =
        own.stream()
            .filter(event -> event.kind() == PROCESS_EXITED)
            .mapToLong(Event::startNanos)
            .findFirst()
            .orElse(phases.endNanos());
    List<Event> events = own.stream().filter(event -> event.tid() == pid).toList();
    return new ThreadTimeline(
        pid, events, from, Math.clamp(to, from, phases.endNanos()), scene.last().get(pid));
  }

  /** Where the process became the command; else when it was first followed. */
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

  /** When it was ready, and how many processes did something. */
  String title() {
    return String.format(
        Locale.ROOT,
        "%s after %.3f s, %d processes",
        scene.ready().cause().sentence(),
        phases.wallNanos() / NANOS_PER_SECOND,
        processes.size());
  }

  PhaseTimeline phases() {
    return phases;
  }

  /** The main thread of each process. */
  List<ThreadTimeline> mainThreads() {
    return mainThreads;
  }

  /**
   * A gap, by the main thread that explains it: of those that are there for most of it, the one
   * that waits for others the least.
   */
  Explained explained(PhaseTimeline.Stretch gap) {
    long from = gap.startNanos();
    long to = gap.endNanos();
    return mainThreads.stream()
        .max(Comparator.comparingLong(thread -> thread.busyNanos(from, to)))
        .map(thread -> explained(thread, from, to))
        .orElseThrow();
  }

  /** What main threads did for long without a change, by when it began. */
  List<Explained> stretches() {
    return mainThreads.stream()
        .flatMap(
            thread ->
                thread.stretches(phases.longNanos()).stream()
                    .map(part -> explained(thread, part.startNanos(), part.endNanos())))
        .sorted(Comparator.comparingLong(Explained::startNanos))
        .toList();
  }

  private Explained explained(ThreadTimeline thread, long from, long to) {
    int pid = thread.pid();
    Last most = thread.most(from, to);
    String why = seen.why(pid, most.state(), from, to);
    return new Explained(pid, from, to, most, why, lastFile(pid, from));
  }

  /** The file that a process opened last before a moment; empty where there is none. */
  private String lastFile(int pid, long nanos) {
    return events.stream()
        .filter(event -> event.pid() == pid && event.startNanos() <= nanos)
        .filter(event -> event.kind() == Kind.SYSCALL_OPENAT && event.result() >= 0)
        .reduce((earlier, later) -> later)
        .map(Event::text)
        .orElse("");
  }

  /** Both ends of each call, by time. */
  public List<CallRecord> records() {
    return Observation.records(events);
  }
}
