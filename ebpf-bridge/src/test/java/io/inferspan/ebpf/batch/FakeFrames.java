package io.inferspan.ebpf.batch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A {@link FakeEngine} without a plugin: its steps are known only from its messages. */
final class FakeFrames extends FakeEngine {

  private static final long TOKEN = 1L << 32;
  private static final long FINISHED = 1L << 57;

  /** The cost of each member of a step, by the time of its launch. */
  final Map<Long, Map<String, Long>> costs = new HashMap<>();

  /** The requests in a step's outputs, by the time when it was done. */
  final Map<Long, Set<String>> outputs = new HashMap<>();

  private final FramedEngine framed;

  /** Whether steps without tokens have no message, as in vLLM 0.9.1. */
  private final boolean silent;

  private final ArrayDeque<InFlight> inFlight = new ArrayDeque<>();
  private final List<Running> leaving = new ArrayList<>();

  /** A step, and the tokens that it gives, by request. */
  private record InFlight(long step, Map<String, Long> tokens) {}

  FakeFrames(Batches batches, Random random, int pid, boolean async) {
    super(batches, random, pid, async, () -> false);
    framed = new FramedEngine(pid, batches);
    silent = random.nextBoolean();
  }

  @Override
  void bind(int slot, String id, @Nullable RequestHead head) {
    framed.add(slot, id, id, head, ++nanos);
  }

  @Override
  void report(Map<Integer, Long> now) {
    Map<String, Long> cost = new HashMap<>();
    Map<String, Long> tokens = new LinkedHashMap<>();
    for (Running one : running) {
      if (now.containsKey(one.slot)) {
        cost.put(one.id, 1L + random.nextInt(1_000));
        if (one.computed >= one.prompt) {
          tokens.put(one.id, one.slot | TOKEN | (one.isDone() ? FINISHED : 0));
        }
      }
    }
    if (!now.isEmpty()) {
      costs.put(++nanos, cost);
      framed.launched(1, nanos);
      framed.recorded(step);
    }
    inFlight.add(new InFlight(step, tokens));
  }

  @Override
  void abort(Running request) {
    leaving.add(request);
  }

  @Override
  void runStep() {
    super.runStep();
    finished.clear(); // The outputs with the last tokens report the end.
    if (random.nextBoolean()) {
      readAborts();
    }
    boolean overlaps = async && !idle();
    while (inFlight.size() > (overlaps ? 1 : 0)) {
      complete(inFlight.remove());
    }
    readAborts();
  }

  /** A step in flight may still give tokens to a request that was aborted. */
  private void readAborts() {
    for (Running one : leaving) {
      framed.abort(one.slot | FINISHED, ++nanos);
      if (random.nextBoolean()) {
        inFlight.forEach(step -> step.tokens.remove(one.id));
      }
    }
    leaving.clear();
  }

  private void complete(InFlight done) {
    nanos += 5_000 + random.nextInt(5_000);
    framed.eventReached(done.step, nanos);
    if (done.tokens.isEmpty() && silent) {
      return;
    }
    outputs.put(++nanos, done.tokens.keySet());
    framed.change(done.tokens.values().stream().mapToLong(Long::longValue).toArray(), 0);
    framed.outputs(done.tokens.size(), nanos, 0, nanos);
  }
}
