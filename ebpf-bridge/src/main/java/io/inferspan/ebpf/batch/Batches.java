package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.nccl.Communicator;
import io.inferspan.ebpf.wire.EventClass;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Joins the steps of engines with their members, which are the requests that they run.
 *
 * <p>The engine identifies a request by its {@code x-request-id}. The trace context comes from the
 * HTTP head with the same id, as the API server read it.
 */
final class Batches {

  /** How long records of ranks and of the device can still arrive after the end of a request. */
  private static final long GRACE_NANOS = 1_000_000_000L;

  /** A request that was in no step for this long is assumed to have ended. */
  private static final long QUIET_NANOS = 120_000_000_000L;

  private static final int MAX_RANKS = 1_024;

  private final ShareModel model;
  private final Sink sink;
  private final int most;
  private final Losses losses;
  private final BatchCounters counters = new BatchCounters();
  private final Map<Integer, Rank> ranks = new HashMap<>();
  private final Map<String, BatchRequest> requests = new LinkedHashMap<>();

  /** Receives each step that is done and each request that has ended, once. */
  interface Sink {

    /** Called before the busy time of a step is known. */
    void done(Step step);

    void measured(Step step);

    void request(BatchRequest request);
  }

  /**
   * What the steps need from the reader of events: lost records, lowered detail levels, ranks and
   * times.
   */
  interface Losses {

    /** Returns whether a record of any process was lost in this interval. */
    boolean during(long fromNanos, long toNanos);

    /** Returns the detail level of a class in this interval; empty if each event was reported. */
    default String level(EventClass events, long fromNanos, long toNanos) {
      return "";
    }

    /** Returns the rank of a worker, from its process title or from NCCL; null if unknown. */
    default @Nullable String rank(int pid) {
      return null;
    }

    /** Converts a time of CLOCK_MONOTONIC to nanoseconds since the epoch. */
    default long epochNanos(long nanos) {
      return nanos;
    }
  }

  /** Holds at most {@code most} requests, and at most {@code most} slots per rank. */
  Batches(ShareModel model, int most, Sink sink, Losses losses) {
    this.model = model;
    this.sink = sink;
    this.most = most;
    this.losses = losses;
  }

  BatchCounters counters() {
    return counters;
  }

  /**
   * Assigns a slot of a rank to a request. A slot is the engine's number for a request or for one
   * of its parallel samples.
   *
   * @param engine the pid of the rank's engine, within which request ids are unique
   * @param requestId empty if two live requests share it, null if it is unknown
   * @param head null if no sampled request has this id
   */
  void bind(
      int pid, int engine, long slot, @Nullable String requestId, @Nullable RequestHead head) {
    boolean full = ranks.size() >= MAX_RANKS && !ranks.containsKey(pid);
    Rank rank = full ? null : rank(pid);
    if (rank == null || rank.slots() >= most) {
      counters.increment(Count.EVICTED);
      return;
    }
    if (requestId == null || requestId.isEmpty()) {
      if (requestId != null) {
        counters.increment(Count.AMBIGUOUS_SLOTS);
      }
      rank.bind((int) slot, null);
    } else {
      rank.bind((int) slot, request(engine, requestId, head));
    }
  }

  /** Returns the engine's request with this id, creating it if necessary. */
  BatchRequest request(int engine, String requestId, @Nullable RequestHead head) {
    String key = engine + "/" + requestId;
    BatchRequest request = requests.get(key);
    if (request != null && request.slots == 0 && head != null && !head.equals(request.head)) {
      measureAll();
      write(request); // The new request has the id of an earlier one.
      request = null;
    }
    if (request == null) {
      if (requests.size() >= most) {
        counters.increment(Count.EVICTED);
        measureAll();
        write(requests.values().iterator().next());
      }
      request = new BatchRequest(key, head);
      requests.put(key, request);
    }
    request.dueNanos = 0;
    return request;
  }

  /** Removes a request without writing its spans. */
  void discard(BatchRequest request) {
    requests.remove(request.id);
  }

  private void write(BatchRequest request) {
    requests.remove(request.id);
    counters.increment(Count.REQUESTS);
    sink.request(request);
  }

  /** Begins a step of a process. */
  Step stepBegan(int pid, long step, Changes changes, long nanos) {
    return rank(pid).begin(step, changes, nanos);
  }

  /**
   * Ends a step; {@code launches} is the number of its launches, or -1 if they were not counted.
   */
  void stepEnded(int pid, long step, long launches, long nanos) {
    rank(pid).end(step, launches, nanos);
  }

  /** Adds a launch of a CUDA kernel or a CUDA graph to the open step of a process. */
  void launched(int pid, long startNanos) {
    rank(pid).launched(startNanos);
  }

  /** Adds a collective to the open step of a process. */
  void called(int pid, Communicator communicator, long sequence) {
    rank(pid).called(communicator, sequence);
  }

  /** Records that a capture policy decides about the calls of the open step of a process. */
  void policyApplied(int pid) {
    rank(pid).policyApplied();
  }

  /** Adds a {@code cuEventRecord} to the open step of a process. */
  void recorded(int pid, long event) {
    rank(pid).recorded(event);
  }

  /** Handles the end of a wait for a CUDA event. */
  void eventReached(int pid, long event, long nanos) {
    rank(pid).eventReached(event, nanos);
  }

  /** Handles the end of a wait for a stream or the device. */
  void allDone(int pid, long nanos) {
    rank(pid).allDone(nanos);
  }

  /** Adds a CUDA kernel that the device ran for a process, with its times from CUPTI. */
  void ran(int pid, long correlation, long startNanos, long endNanos, long nowNanos) {
    rank(pid).kernels.add(correlation, startNanos, endNanos, nowNanos);
  }

  /** Closes the rank of a process that exited. */
  void processExited(int pid, long nanos) {
    Rank rank = ranks.remove(pid);
    if (rank != null) {
      rank.close(nanos);
    }
  }

  private void measureAll() {
    ranks.values().forEach(rank -> rank.measure(Long.MAX_VALUE));
  }

  /** Writes the steps and requests that are due. */
  void expire(long nanos) {
    ranks.values().forEach(rank -> rank.measure(nanos));
    for (BatchRequest request : List.copyOf(requests.values())) {
      boolean due = request.dueNanos > 0 && request.dueNanos <= nanos;
      if (due || (request.touchedNanos > 0 && nanos - request.touchedNanos > QUIET_NANOS)) {
        write(request);
      }
    }
  }

  /** Writes all remaining steps and requests. */
  void close(long nanos) {
    ranks.values().forEach(rank -> rank.close(nanos));
    ranks.clear();
    expire(Long.MAX_VALUE);
  }

  /** Schedules the writing of a request that has no slots left. */
  void writeIfEnded(@Nullable BatchRequest request, long nanos) {
    if (request != null && request.slots == 0) {
      request.dueNanos = nanos + GRACE_NANOS;
    }
  }

  /**
   * Returns whether a record was lost in this interval; it may have been a step's wait, a launch,
   * or the request of a slot.
   */
  boolean lost(long fromNanos, long toNanos) {
    return losses.during(fromNanos, toNanos);
  }

  /** Returns the detail level of a class in this interval; empty if each event was reported. */
  String level(EventClass events, long fromNanos, long toNanos) {
    return losses.level(events, fromNanos, toNanos);
  }

  long epochNanos(long nanos) {
    return losses.epochNanos(nanos);
  }

  void done(Step step) {
    if (!step.complete) {
      counters.increment(Count.INCOMPLETE_STEPS);
    }
    sink.done(step);
  }

  /** Divides the busy time of a step among its members, and writes it. */
  void measured(Step step) {
    (step.frames ? ShareModel.EQUAL : model).share(step);
    for (int i = 0; i < step.size; i++) {
      BatchRequest request = step.requests[i];
      if (request != null) {
        request.add(step, i, step.doneNanos);
      }
    }
    sink.measured(step);
  }

  private Rank rank(int pid) {
    return ranks.computeIfAbsent(pid, any -> new Rank(pid, losses.rank(pid), this, counters));
  }
}
