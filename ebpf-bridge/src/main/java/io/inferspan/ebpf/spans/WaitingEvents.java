package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Layout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/**
 * Events that do not say whose they are, until it is told whom their thread served then.
 *
 * <p>A request's head may come in two pieces, or its begin be told after its first call. An event
 * that began before the request did is not its, and nothing is guessed.
 */
final class WaitingEvents {

  private final Arena arena = Arena.ofAuto();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final ArrayDeque<Waiting> spare = new ArrayDeque<>();
  private final FoldOptions options;
  private final SpanAccounting accounting;

  WaitingEvents(FoldOptions options, SpanAccounting accounting) {
    this.options = options;
    this.accounting = accounting;
  }

  private static final class Waiting {
    private final MemorySegment bytes;
    private final EventView view;
    private long sinceNanos;

    private Waiting(MemorySegment bytes) {
      this.bytes = bytes;
      this.view = new EventView().over(bytes);
    }

    private void take(EventView event, long nowNanos) {
      view.moveTo(0, event.copyTo(bytes));
      sinceNanos = nowNanos;
    }
  }

  /** Takes an event that its thread's request may yet claim. */
  interface Claim {
    void claimed(EventView event);
  }

  void add(EventView event, long nowNanos) {
    if (waiting.size() >= options.bounds().waiting()) {
      giveUp(waiting.remove());
    }
    Waiting free = spare.poll();
    Waiting kept = free == null ? new Waiting(arena.allocate(Layout.MAX_BYTES, Long.BYTES)) : free;
    kept.take(event, nowNanos);
    waiting.add(kept);
    accounting.countHeld();
  }

  /** Hands over the events of this thread that began no earlier than the request. */
  void claim(int tgid, int tid, long beganNanos, Claim claim) {
    for (int i = waiting.size(); i > 0; i--) {
      Waiting next = waiting.remove();
      EventView event = next.view;
      if (event.tgid() == tgid && event.tid() == tid && event.startNanos() >= beganNanos) {
        accounting.countReleased();
        claim.claimed(event);
        spare.push(next);
      } else {
        waiting.add(next);
      }
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Gives up those that have waited long enough. */
  void expire(long nowNanos) {
    Waiting oldest = waiting.peek();
    while (oldest != null && nowNanos - oldest.sinceNanos >= options.times().waitingNanos()) {
      giveUp(waiting.remove());
      oldest = waiting.peek();
    }
  }

  void giveUpAll() {
    while (!waiting.isEmpty()) {
      giveUp(waiting.remove());
    }
  }

  private void giveUp(Waiting event) {
    accounting.countReleased();
    accounting.countDropped(SpanAccounting.Drop.NO_CONTEXT);
    spare.push(event);
  }
}
