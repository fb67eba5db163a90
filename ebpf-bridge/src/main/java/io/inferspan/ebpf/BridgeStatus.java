package io.inferspan.ebpf;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a bridge stands: a snapshot, all zero and empty where there is no bridge.
 *
 * @param programs what runs in the kernel, and what does not
 * @param libraries the libraries whose functions are watched, and those that could not be
 * @param events what was seen, by kind
 * @param losses events that were lost, by reason: those of the kernel side begin with {@code
 *     kernel.}
 * @param contexts how requests came to be known, and where no context was given
 * @param flow what is under way, and what became of the rest
 * @param failures what went wrong and was gone on without, by what it was about
 * @param sleep whether the probes that only serve requests are off
 */
public record BridgeStatus(
    List<Program> programs,
    List<Library> libraries,
    List<Events> events,
    Map<String, Long> losses,
    Map<String, Long> contexts,
    Flow flow,
    Map<String, Long> failures,
    Sleep sleep) {

  /** Copies what was given, in its order. */
  public BridgeStatus {
    programs = List.copyOf(programs);
    libraries = List.copyOf(libraries);
    events = List.copyOf(events);
    contexts = Collections.unmodifiableMap(new LinkedHashMap<>(contexts));
    failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
    losses = Collections.unmodifiableMap(new LinkedHashMap<>(losses));
  }

  static BridgeStatus none() {
    return new BridgeStatus(
        List.of(),
        List.of(),
        List.of(),
        Map.of(),
        Map.of(),
        Flow.none(),
        Map.of(),
        new Sleep(false, 0));
  }

  /** Events lost, for whatever reason. */
  public long lost() {
    return losses.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Whether the probes that only serve requests are taken off, since none is sampled.
   *
   * @param asleep whether they are off now; what is said of programs and libraries then holds again
   *     when they are put back
   * @param times how often they were taken off
   */
  public record Sleep(boolean asleep, long times) {}

  /**
   * A program.
   *
   * @param object the question that it helps to answer, such as {@code syscalls}
   * @param name its name
   * @param attached whether it is in place; one on functions then runs where a library is watched
   * @param problem why it is not in place; empty where it is
   * @param runs how often it ran, counted while somebody asks the kernel to
   * @param runNanos how long it ran in all
   */
  public record Program(
      String object, String name, boolean attached, String problem, long runs, long runNanos) {}

  /**
   * A library that was looked into.
   *
   * @param outcome its name and how many functions are watched, or why none is
   * @param processes how many known processes map it
   */
  public record Library(String outcome, int processes) {}

  /**
   * Events of one kind, since the bridge was attached.
   *
   * @param kind such as {@code cuda.launch}
   * @param produced what the kernel side saw
   * @param read what reached this process
   */
  public record Events(String kind, long produced, long read) {}

  /**
   * Events on their way. {@code produced = read + lost in the kernel}, and {@code read = emitted +
   * folded + control + lost here + held}.
   *
   * @param ring the room that events have
   * @param spans what became of them
   * @param openRequests requests with something to be written
   * @param ownThreads threads of this process that the kernel knows
   */
  public record Flow(Ring ring, Spans spans, int openRequests, int ownThreads) {

    static Flow none() {
      return new Flow(new Ring(0, 0, 0), new Spans(0, 0, 0, 0, 0), 0, 0);
    }
  }

  /**
   * The ring buffer.
   *
   * @param fillBytes what waits to be read
   * @param capacityBytes what may wait
   * @param lagNanos how long the oldest event of the last look had waited
   */
  public record Ring(long fillBytes, long capacityBytes, long lagNanos) {}

  /**
   * What became of the events that were read.
   *
   * @param emitted spans of a single event
   * @param folded events that share a span
   * @param folds spans that stand for several events
   * @param control events that tell of requests, processes and libraries
   * @param held events that wait to be written
   */
  public record Spans(long emitted, long folded, long folds, long control, long held) {}
}
