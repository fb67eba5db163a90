package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Engines' steps and the requests in them, from what their processes mark.
 *
 * <p>A request is known to an engine by its {@code x-request-id}, and to its trace by the head that
 * the API server read with the same id.
 */
final class Batches {

  /** Records of ranks and of the device come within this time after a request's end. */
  private static final long GRACE_NANOS = 1_000_000_000L;

  /** A request that was in no step for so long has ended unseen. */
  private static final long QUIET_NANOS = 120_000_000_000L;

  private final ShareModel model;
  private final BatchSink sink;
  private final int most;
  private final Losses losses;
  private final BatchCounters counters = new BatchCounters();
  private final Map<Integer, Rank> ranks = new HashMap<>();
  private final Map<String, BatchRequest> requests = new LinkedHashMap<>();

  /** What is known of lost records. */
  interface Losses {

    /** Whether a record of any process was lost in this time. */
    boolean during(long fromNanos, long toNanos);
  }

  /** Holds at most {@code most} requests, and slots of one rank. */
  Batches(ShareModel model, int most, BatchSink sink, Losses losses) {
    this.model = model;
    this.sink = sink;
    this.most = most;
    this.losses = losses;
  }

  /** What became of steps and members. */
  BatchCounters counters() {
    return counters;
  }

  /**
   * A process said whose a slot is.
   *
   * @param engine the process that the rank belongs to: ids are the engine's
   * @param requestId empty where two live requests share it, null where it is unknown
   * @param head null if no sampled request has this id
   */
  void bind(
      int pid, int engine, long slot, @Nullable String requestId, @Nullable RequestHead head) {
    Rank rank = rank(pid);
    if (rank.slots() >= most) {
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

  /** The request that an engine knows by this id; a new one if there is none. */
  BatchRequest request(int engine, String requestId, @Nullable RequestHead head) {
    String key = engine + "/" + requestId;
    BatchRequest request = requests.get(key);
    if (request != null && request.slots == 0 && head != null && !head.equals(request.head)) {
      write(request); // A later request with the same id.
      request = null;
    }
    if (request == null) {
      if (requests.size() >= most) {
        counters.increment(Count.EVICTED);
        write(requests.values().iterator().next());
      }
      request = new BatchRequest(key, head);
      requests.put(key, request);
    }
    request.dueNanos = 0;
    return request;
  }

  /** Forgets a request, of which nothing is written. */
  void discard(BatchRequest request) {
    requests.remove(request.id);
  }

  private void write(BatchRequest request) {
    requests.remove(request.id);
    counters.increment(Count.REQUESTS);
    sink.request(request);
  }

  /** A process begins a step. */
  Step stepBegan(int pid, long step, Changes changes, long nanos) {
    return rank(pid).begin(step, changes, nanos);
  }

  /** A process ended a step, in which it made so many launches. */
  void stepEnded(int pid, long step, long launches, long nanos) {
    rank(pid).end(step, launches, nanos);
  }

  /** A process launched a kernel or a graph in its open step. */
  void launched(int pid, long startNanos) {
    rank(pid).launched(startNanos);
  }

  /** A process recorded an event of the device. */
  void recorded(int pid, long event) {
    rank(pid).recorded(event);
  }

  /** A process waited for an event until now. */
  void eventReached(int pid, long event, long nanos) {
    rank(pid).eventReached(event, nanos);
  }

  /** A process waited for a stream or its device until now. */
  void allDone(int pid, long nanos) {
    rank(pid).allDone(nanos);
  }

  /** A process ended. */
  void processExited(int pid, long nanos) {
    Rank rank = ranks.remove(pid);
    if (rank != null) {
      rank.close(nanos);
    }
  }

  /** Writes the requests whose time has come. */
  void expire(long nanos) {
    for (BatchRequest request : List.copyOf(requests.values())) {
      boolean due = request.dueNanos > 0 && request.dueNanos <= nanos;
      if (due || (request.touchedNanos > 0 && nanos - request.touchedNanos > QUIET_NANOS)) {
        write(request);
      }
    }
  }

  /** Writes all that there is. */
  void close(long nanos) {
    ranks.values().forEach(rank -> rank.close(nanos));
    ranks.clear();
    expire(Long.MAX_VALUE);
  }

  void settle(@Nullable BatchRequest request, long nanos) {
    if (request != null && request.slots == 0) {
      request.dueNanos = nanos + GRACE_NANOS;
    }
  }

  /**
   * Whether a record was lost in this time. Whose it was is not known: it may have been a step's
   * wait, a launch, or the request of a slot.
   */
  boolean lost(long fromNanos, long toNanos) {
    return losses.during(fromNanos, toNanos);
  }

  void done(Step step, long nanos) {
    if (!step.complete) {
      counters.increment(Count.INCOMPLETE_STEPS);
    }
    (step.frames ? ShareModel.EQUAL : model).share(step);
    for (int i = 0; i < step.size; i++) {
      BatchRequest request = step.requests[i];
      if (request != null) {
        request.add(step, i, nanos);
      }
    }
    sink.step(step, nanos);
  }

  private Rank rank(int pid) {
    return ranks.computeIfAbsent(pid, any -> new Rank(pid, this, counters));
  }
}
