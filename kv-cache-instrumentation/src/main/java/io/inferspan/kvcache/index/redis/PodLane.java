package io.inferspan.kvcache.index.redis;

import java.util.ArrayDeque;

/**
 * Keeps the changes of one pod in their order, with no more waiting than that takes.
 *
 * <p>What is sent on one connection is done in that order, so additions need not wait for each
 * other. A removal by an engine's hash must ask first and a clearing asks many times: an addition
 * after one of these waits until it is over. A clearing waits for the additions before it, which in
 * a cluster are on other connections.
 */
final class PodLane {

  private final ArrayDeque<Write> queue = new ArrayDeque<>();
  private int adding;
  private int removing;
  private int clearing;
  private boolean draining;

  PodLane() {}

  /** Takes a change; its deadline is set, unless it waits for a clearing, which takes its time. */
  void take(Write write) {
    while (!queue.isEmpty() && queue.peek().isOver()) {
      queue.remove();
    }
    if (clearing == 0 && write.kind() != Write.Kind.CLEAR) {
      write.expireAfter(write.writes().timeoutMillis());
    }
    queue.add(write);
    drain();
  }

  boolean isIdle() {
    return queue.isEmpty() && adding + removing + clearing == 0;
  }

  void finished(Write write) {
    count(write, -1);
    drain();
    if (isIdle()) {
      write.writes().leave(write, this);
    }
  }

  private void drain() {
    if (draining) {
      // A change that fails at once comes back here from below.
      return;
    }
    draining = true;
    try {
      while (!queue.isEmpty() && (queue.peek().isOver() || mayGo(queue.peek()))) {
        go(queue.remove());
      }
    } finally {
      draining = false;
    }
  }

  private void go(Write write) {
    if (write.isOver()) {
      return;
    }
    if (write.kind() != Write.Kind.CLEAR) {
      write.expireAfter(write.writes().timeoutMillis());
    }
    count(write, 1);
    write.goIn(this);
  }

  private boolean mayGo(Write write) {
    return switch (write.kind()) {
      case ADD -> removing == 0 && clearing == 0;
      case REMOVE -> true;
      case CLEAR -> adding == 0;
    };
  }

  private void count(Write write, int by) {
    switch (write.kind()) {
      case ADD -> adding += by;
      case REMOVE -> removing += by;
      case CLEAR -> clearing += by;
    }
  }
}
