package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.Writes.Write;
import java.util.ArrayDeque;

/**
 * Keeps the changes of one pod in order, with as little waiting as possible.
 *
 * <p>Redis executes the commands of one connection in order, so additions need not wait for each
 * other. A removal by an engine's hash sends a query first, and a clearing sends many: an addition
 * that follows one of them waits until it has finished. A clearing waits for the additions before
 * it, which in a cluster use other connections.
 */
final class PodQueue {

  private final ArrayDeque<Write> waiting = new ArrayDeque<>();
  private int adding;
  private int removing;
  private int clearing;
  private boolean draining;

  /** Accepts a change and sets its deadline, unless it waits for a clearing, which has none. */
  void take(Write write) {
    while (!waiting.isEmpty() && waiting.peek().isOver()) {
      waiting.remove();
    }
    if (clearing == 0) {
      write.expire();
    }
    waiting.add(write);
    drain();
  }

  /** Notes the end of a change; returns whether no other is left. */
  boolean finished(Write write) {
    count(write, -1);
    drain();
    return waiting.isEmpty() && adding + removing + clearing == 0;
  }

  private void drain() {
    if (draining) {
      // A change that fails at once has already been removed here.
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
      count(write, 1);
      write.startFrom(this);
    }
  }

  private boolean mayStart(Write write) {
    return switch (write.kind) {
      case ADD -> removing == 0 && clearing == 0;
      case REMOVE -> true;
      case CLEAR -> adding == 0;
    };
  }

  private void count(Write write, int by) {
    switch (write.kind) {
      case ADD -> adding += by;
      case REMOVE -> removing += by;
      case CLEAR -> clearing += by;
    }
  }
}
