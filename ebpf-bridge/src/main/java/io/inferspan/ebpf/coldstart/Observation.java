package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Collects the events of a process tree: calls, waits, and starts and exits of programs. Events are
 * added on the ring's thread.
 */
public final class Observation implements Consumer<EventView> {

  private static final int MAX_EVENTS = 1_000_000;

  private final int self = (int) ProcessHandle.current().pid();
  private final List<Event> events = new ArrayList<>();
  private long leftOut;

  /**
   * A copy of an event, with the fields of {@link EventView}.
   *
   * @param text the path of an opened file or a started program; otherwise empty
   */
  record Event(
      Kind kind,
      int pid,
      int tid,
      long startNanos,
      long endNanos,
      int result,
      long detail,
      long extra,
      String text) {

    /** Returns the file descriptor of a call. */
    int fd() {
      return (int) (kind == Kind.SYSCALL_MMAP ? detail : detail >>> Integer.SIZE);
    }

    long nanos() {
      return endNanos - startNanos;
    }
  }

  @Override
  public void accept(EventView view) {
    Kind kind = view.isWhole() ? Kind.of(view.kind()) : null;
    if (kind == null || view.tgid() == self || !isKept(kind)) {
      return;
    }
    boolean named = kind == Kind.SYSCALL_OPENAT || kind == Kind.PROCESS_STARTED;
    add(
        new Event(
            kind,
            view.tgid(),
            view.tid(),
            view.startNanos(),
            view.endNanos(),
            view.result(),
            view.detail(),
            view.extra(),
            named ? view.text() : ""));
  }

  private static boolean isKept(Kind kind) {
    return switch (kind.family()) {
      case CUDA, NCCL, SYSCALL, SCHED -> true;
      case CONTROL -> kind == Kind.PROCESS_STARTED || kind == Kind.PROCESS_EXITED;
      case TCP, CKP -> false;
    };
  }

  synchronized void add(Event event) {
    if (events.size() < MAX_EVENTS) {
      events.add(event);
    } else {
      leftOut++;
    }
  }

  /** Returns the number of events that were received. */
  public synchronized long count() {
    return events.size() + leftOut;
  }

  /** Returns the number of received events that were not kept because the limit was reached. */
  public synchronized long leftOut() {
    return leftOut;
  }

  /** Returns the events so far, ordered by start. */
  synchronized List<Event> events() {
    List<Event> sorted = new ArrayList<>(events);
    sorted.sort(Comparator.comparingLong(Event::startNanos));
    return sorted;
  }

  /** Returns the entry and the exit of each call, ordered by time. */
  static List<CallRecord> records(List<Event> events) {
    List<CallRecord> records = new ArrayList<>();
    for (Event event : events) {
      Long call = event.kind().family() == Family.SCHED ? null : CallIds.of(event.kind());
      if (call != null) {
        int pid = event.pid();
        int tid = event.tid();
        records.add(new CallRecord(event.startNanos(), pid, tid, call, false, 0));
        records.add(new CallRecord(event.endNanos(), pid, tid, call, true, event.result()));
      }
    }
    records.sort(Comparator.comparingLong(CallRecord::timestampNanos));
    return records;
  }
}
