package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.Writes.Kind;
import io.inferspan.kvcache.redis.Writes.Write;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;

/**
 * Keeps the changes of one pod in order, with as little waiting as possible.
 *
 * <p>Redis executes the commands of one connection in order, so additions need not wait for each
 * other. A removal by an engine's hash takes two or more round trips, and a clearing takes many, so
 * an addition waits until earlier removals and clearings have finished. A clearing waits for
 * earlier additions, because in a cluster it uses other connections than they do.
 */
final class PodQueue {

  private final ArrayDeque<Write> waiting = new ArrayDeque<>();
  private final Map<Kind, Integer> running = new EnumMap<>(Kind.class);
  private boolean draining;

  /**
   * Accepts a change and sets its deadline. While a clearing runs, which may take any time, a
   * change gets its deadline when it starts.
   */
  void take(Write write) {
    while (!waiting.isEmpty() && waiting.peek().isOver()) {
      waiting.remove();
    }
    if (!runs(Kind.CLEAR)) {
      write.expire();
    }
    waiting.add(write);
    drain();
  }

  /** Notes the end of a change; returns whether the queue has no other changes. */
  boolean finished(Write write) {
    running.merge(write.kind, -1, Integer::sum);
    drain();
    return waiting.isEmpty() && !runs(Kind.ADD) && !runs(Kind.REMOVE) && !runs(Kind.CLEAR);
  }

  private void drain() {
    if (draining) {
      // Called from the loop below: a change that it started has failed at once.
      return;
    }
    draining = true;
    try {
      while (!waiting.isEmpty() && (waiting.peek().isOver() || mayStart(waiting.peek()))) {
        start(waiting.remove());
      }
    } finally {
      draining = false;
    }
  }

  private void start(Write write) {
    if (!write.isOver()) {
      write.expire();
      running.merge(write.kind, 1, Integer::sum);
      write.startFrom(this);
    }
  }

  private boolean mayStart(Write write) {
    return switch (write.kind) {
      case ADD -> !runs(Kind.REMOVE) && !runs(Kind.CLEAR);
      case REMOVE -> true;
      case CLEAR -> !runs(Kind.ADD);
    };
  }

  private boolean runs(Kind kind) {
    return running.getOrDefault(kind, 0) > 0;
  }
}
