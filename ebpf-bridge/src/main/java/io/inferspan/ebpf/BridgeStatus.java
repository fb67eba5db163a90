package io.inferspan.ebpf;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A snapshot of a bridge; all zero and empty if there is no bridge.
 *
 * @param programs the BPF programs, attached or not
 * @param libraries the libraries whose functions are observed, and those that cannot be observed
 * @param events the observed events by kind
 * @param losses lost events by reason; reasons of the kernel side begin with {@code kernel.}
 * @param contexts counters of recognised requests, and of the reasons why others were not
 *     recognised
 * @param flow event accounting, the ring buffer, open requests, and this process's threads
 * @param failures errors that did not stop the bridge, by subject
 * @param sleep whether the probes for sampled requests are detached
 * @param detail the detail level of each event class, which the configuration and a budget can
 *     lower
 */
public record BridgeStatus(
    List<Program> programs,
    List<Library> libraries,
    List<Events> events,
    Map<String, Long> losses,
    Map<String, Long> contexts,
    Flow flow,
    Map<String, Long> failures,
    Sleep sleep,
    List<Detail> detail) {

  /** Copies the collections and keeps their order. */
  public BridgeStatus {
    programs = List.copyOf(programs);
    libraries = List.copyOf(libraries);
    events = List.copyOf(events);
    detail = List.copyOf(detail);
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
        new Sleep(false, 0),
        List.of());
  }

  /** Returns the number of lost events. */
  public long lost() {
    return losses.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * The state of the probes for sampled requests (CUDA, scheduler and TCP), which are detached
   * while no request is sampled. The probes on NCCL stay attached, so that all collectives of a
   * communicator are counted.
   *
   * @param asleep whether they are detached now; {@code programs} and {@code libraries} still
   *     report them as attached
   * @param times how often they were detached
   */
  public record Sleep(boolean asleep, long times) {}

  /**
   * The detail level of a class of events.
   *
   * @param events the class, such as {@code launches}
   * @param level its level: {@code full}, {@code sampled}, {@code folded}, {@code counted} or
   *     {@code detached}
   * @param shed the number of events that were folded or counted because the level was lowered
   */
  public record Detail(String events, String level, long shed) {}

  /**
   * A BPF program and its run statistics.
   *
   * @param object the BPF object that it belongs to, such as {@code calls}
   * @param name its name
   * @param attached whether it is attached; a program at library functions runs only after a
   *     library with such functions was found
   * @param problem why it is not attached; empty if it is
   * @param runs its runs while the kernel's run statistics were enabled
   * @param runNanos its total run time in nanoseconds while they were enabled
   */
  public record Program(
      String object, String name, boolean attached, String problem, long runs, long runNanos) {}

  /**
   * An examined library.
   *
   * @param outcome its name and the number of observed functions, or why there are none
   * @param processes the number of known processes that map it
   */
  public record Library(String outcome, int processes) {}

  /**
   * Events of one kind, since the bridge was attached.
   *
   * @param kind the kind, such as {@code cuda.launch}
   * @param produced events that the kernel side produced
   * @param read events that reached this process
   */
  public record Events(String kind, long produced, long read) {}

  /**
   * Event accounting. Each event that the kernel side produced was read, was lost because the ring
   * was full ({@code kernel.ring_full}), or is still in the ring. Events lost for other reasons of
   * the kernel side are not counted as produced. In this process, {@code read = emitted + folded +
   * control + lost in this process + held}.
   *
   * @param ring the ring buffer
   * @param spans the outcome of the events that were read
   * @param openRequests requests with pending spans
   * @param ownThreads threads of this process that are registered with the kernel
   */
  public record Flow(Ring ring, Spans spans, int openRequests, int ownThreads) {

    static Flow none() {
      return new Flow(new Ring(0, 0, 0), new Spans(0, 0, 0, 0, 0), 0, 0);
    }
  }

  /**
   * The ring buffer.
   *
   * @param fillBytes the bytes waiting to be read
   * @param capacityBytes the capacity
   * @param lagNanos the age of the oldest event at the last read
   */
  public record Ring(long fillBytes, long capacityBytes, long lagNanos) {}

  /**
   * The outcome of the events that were read.
   *
   * @param emitted events with a span of their own
   * @param folded events that share a span
   * @param folds spans that represent several events
   * @param control events about requests, processes and libraries
   * @param held events that are not written yet
   */
  public record Spans(long emitted, long folded, long folds, long control, long held) {}
}
