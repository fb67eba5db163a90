package io.inferspan.ebpf.batch;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An engine's rank that schedules at random, reports as the plugin does, and remembers the truth.
 * Each of its records may be lost.
 */
class FakeEngine {

  private static final long PREFILL = 1L << 56;
  private static final long FINISHED = 1L << 57;
  private static final int FULL_EVERY = 16;

  /** A request, with the numbers of its prompt tokens and computed tokens. */
  static final class Running {
    final String id;
    final int slot;
    final int prompt;
    final int most;
    int computed;

    Running(String id, int slot, int prompt, int most) {
      this.id = id;
      this.slot = slot;
      this.prompt = prompt;
      this.most = most;
    }

    boolean isDone() {
      return computed >= prompt + most - 1;
    }
  }

  final Map<Long, Map<String, Long>> truth = new TreeMap<>();
  final Map<String, Integer> prefillSteps = new HashMap<>();
  final Map<String, Integer> decodeSteps = new HashMap<>();

  /** Requests that were live when something was lost. */
  final Map<String, Boolean> affected = new LinkedHashMap<>();

  long nanos = 1_000_000;
  long step;

  final Batches batches;
  final Random random;
  final int pid;
  final boolean async;
  private final BooleanSupplier lost;
  final List<Running> running = new ArrayList<>();
  private final List<Running> paused = new ArrayList<>();
  final Map<Integer, String> finished = new LinkedHashMap<>();
  private Map<Integer, Long> before = Map.of();
  private long waiting;
  private boolean blind;
  private boolean begun = true;

  FakeEngine(Batches batches, Random random, int pid, boolean async, BooleanSupplier lost) {
    this.batches = batches;
    this.random = random;
    this.pid = pid;
    this.async = async;
    this.lost = lost;
  }

  static SpanContext parent(String id) {
    return SpanContext.createFromRemoteParent(
        "%032x".formatted(id.hashCode() + (1L << 40)),
        "%016x".formatted(id.hashCode() + (1L << 40)),
        TraceFlags.getSampled(),
        TraceState.getDefault());
  }

  void add(int number, boolean head) {
    String id = "r" + number;
    bind(number, id, head ? new RequestHead(parent(id), nanos) : null);
    if (!begun) {
      affected.put(id, true); // The request may have been in the lost step.
    }
    running.add(new Running(id, number, 1 + random.nextInt(500), 1 + random.nextInt(20)));
  }

  void bind(int slot, String id, @Nullable RequestHead head) {
    batches.bind(pid, 1, slot, id, head);
  }

  boolean idle() {
    return running.isEmpty() && paused.isEmpty() && finished.isEmpty();
  }

  void runStep() {
    nanos += 1_000 + random.nextInt(1_000);
    step++;
    schedule();
    Map<Integer, Long> now = new LinkedHashMap<>();
    Map<String, Long> members = new HashMap<>();
    int budget = 256;
    for (Running request : running) {
      int total = Math.max(request.prompt, request.computed + 1);
      int tokens = Math.min(budget, total - request.computed);
      if (tokens > 0) {
        boolean prefill = request.computed < request.prompt;
        now.put(request.slot, request.slot | (long) tokens << 32 | (prefill ? PREFILL : 0));
        members.put(request.id, (prefill ? PREFILL : 0) | tokens);
        (prefill ? prefillSteps : decodeSteps).merge(request.id, 1, Integer::sum);
        request.computed += tokens;
        budget -= tokens;
      }
    }
    truth.put(step, members);
    report(now);
    finishSome();
  }

  private void schedule() {
    if (!running.isEmpty() && random.nextInt(20) == 0) {
      Running preempted = running.remove(running.size() - 1);
      preempted.computed = 0;
      paused.add(preempted);
    } else if (!paused.isEmpty() && random.nextInt(3) == 0) {
      running.add(paused.remove(0));
    }
  }

  void report(Map<Integer, Long> now) {
    boolean full = step % FULL_EVERY == 1;
    List<Long> words = new ArrayList<>();
    finished.forEach((slot, id) -> words.add(slot | FINISHED));
    now.forEach(
        (slot, word) -> {
          if (full || !word.equals(before.get(slot))) {
            words.add(word);
          }
        });
    before.keySet().stream()
        .filter(slot -> !full && !now.containsKey(slot))
        .forEach(slot -> words.add((long) slot));
    before = now;
    long[] changes = words.stream().mapToLong(Long::longValue).toArray();
    begun = !lost.getAsBoolean();
    blind = full ? !begun : blind || !begun;
    if (begun) {
      batches.stepBegan(pid, step, new Changes(changes, changes.length, full), nanos);
    }
    if (blind) {
      markAllAffected();
    }
    finished.clear();
    int launches = now.isEmpty() ? 0 : 1 + random.nextInt(4);
    boolean seen = launch(launches);
    boolean ended = !lost.getAsBoolean();
    if (ended) {
      batches.stepEnded(pid, step, launches, nanos);
    }
    if (!seen || !ended) {
      truth.getOrDefault(step, Map.of()).keySet().forEach(id -> affected.put(id, true));
    }
    complete(launches > 0);
  }

  private boolean launch(int launches) {
    boolean seen = true;
    for (int i = 0; i < launches; i++) {
      nanos += 10;
      if (lost.getAsBoolean()) {
        seen = false;
      } else {
        batches.launched(pid, nanos);
      }
    }
    if (launches > 0) {
      batches.recorded(pid, step);
    }
    return seen;
  }

  /** Reaches the event of this step or, if asynchronous, of the previous step. */
  private void complete(boolean launched) {
    nanos += 5_000 + random.nextInt(5_000);
    if (waiting > 0) {
      batches.eventReached(pid, waiting, nanos);
      waiting = 0;
    }
    if (launched && async) {
      waiting = step;
    } else if (launched) {
      batches.eventReached(pid, step, nanos);
    }
  }

  void abort(Running request) {}

  private void markAllAffected() {
    for (List<Running> requests : List.of(running, paused)) {
      requests.forEach(request -> affected.put(request.id, true));
    }
    if (!begun) {
      finished.values().forEach(id -> affected.put(id, true)); // The record of their end was lost.
    }
  }

  private void finishSome() {
    running.removeIf(
        request -> {
          boolean aborted = random.nextInt(200) == 0 && !request.isDone();
          if (aborted) {
            abort(request);
          }
          if (request.isDone() || aborted) {
            finished.put(request.slot, request.id);
          }
          return request.isDone() || aborted;
        });
  }
}
