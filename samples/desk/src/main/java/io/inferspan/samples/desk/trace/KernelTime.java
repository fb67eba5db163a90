package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sums the kernel spans (spans of the eBPF bridge) below one span, so that each moment of a thread
 * counts once.
 *
 * <p>One wait may have three spans: a CUDA synchronisation, its system call, and the time off the
 * CPU. Single calls are nested by thread and time, and a moment counts for the innermost call only.
 * A folded span, which represents several calls, has no thread and no exact times. Off-CPU time
 * outside any single call is moved into the folded system call that its span names or, if the span
 * names none, into a folded CUDA synchronisation. The sum is limited to the wall time of the known
 * threads: the times of the innermost families are reduced first.
 */
final class KernelTime {

  /** The event families, outermost first. */
  private static final List<String> FAMILIES =
      List.of("ckp", "nccl", "cuda", "tcp", "syscall", "sched");

  private static final String SCHED = "sched";

  /** The maximum nesting depth. Deeper calls can only come from invalid spans. */
  private static final int DEEPEST = 32;

  private static final List<Attribute<?>> DETAILS =
      List.of(
          KernelAttributes.OPERATION,
          KernelAttributes.THREAD_STATE,
          KernelAttributes.STREAM,
          KernelAttributes.COMMUNICATOR,
          KernelAttributes.FD_KIND,
          KernelAttributes.FILE_PLACE);

  private final List<Call> folded = new ArrayList<>();
  private final Map<ThreadId, List<Call>> threads = new HashMap<>();
  private long begin = Long.MAX_VALUE;
  private long end = Long.MIN_VALUE;

  /** The ids of a process and a thread; null if the span does not report them. */
  private record ThreadId(@Nullable Long process, @Nullable Long thread) {}

  /** A kernel span, or a part of it, with its own time. */
  private static final class Call {

    final Node node;
    final String name;
    @Nullable Call outer;
    long ownNanos;

    Call(Node node) {
      this.node = node;
      this.name = SpanCatalog.unfolded(node.span().name());
    }

    String family() {
      int dot = name.indexOf('.');
      return dot < 0 ? name : name.substring(0, dot);
    }

    int rank() {
      int rank = FAMILIES.indexOf(family());
      return rank < 0 ? FAMILIES.size() : rank;
    }

    boolean isSynchronisation() {
      return name.startsWith("cuda.") && name.endsWith("_sync");
    }

    /** Moves time from this call into an enclosing call, as a part of it; returns that part. */
    Call moveInto(Call around) {
      Call part = new Call(node);
      part.outer = around;
      part.ownNanos = Math.min(ownNanos, around.ownNanos);
      around.ownNanos -= part.ownNanos;
      ownNanos -= part.ownNanos;
      return part;
    }

    Flame frame(Flame base) {
      Flame above = outer == null ? base.child(family(), family()) : outer.frame(base);
      Flame frame = above.child(ShortText.of(name, 120), family());
      for (Attribute<?> attribute : DETAILS) {
        String text = node.detail().text(attribute);
        if (text != null) {
          return frame.child(ShortText.of(text, 120), family());
        }
      }
      return frame;
    }
  }

  /** Adds a kernel span below {@code base}. */
  void add(Node node, Node base) {
    Call call = new Call(node);
    begin = Math.min(begin, Math.min(base.span().startNanos(), node.span().startNanos()));
    end = Math.max(end, Math.max(base.span().endNanos(), node.span().endNanos()));
    Long sum = node.detail().count(KernelAttributes.DURATION_SUM_NS);
    if (node.detail().count(KernelAttributes.COUNT) != null && sum != null) {
      call.ownNanos = Math.max(0, sum);
      folded.add(call);
      return;
    }
    ThreadId thread =
        new ThreadId(
            node.detail().count(KernelAttributes.PROCESS_ID),
            node.detail().count(KernelAttributes.THREAD_ID));
    threads.computeIfAbsent(thread, key -> new ArrayList<>()).add(call);
  }

  /** Adds a frame for each call, with its own time, below the frame of the span. */
  void addTo(Flame base) {
    List<Call> all = new ArrayList<>(folded);
    for (List<Call> calls : threads.values()) {
      nest(calls);
      all.addAll(calls);
    }
    List<Call> parts = new ArrayList<>();
    for (Call call : all) {
      if (call.outer == null && call.family().equals(SCHED)) {
        parts.addAll(intoFolded(call));
      }
    }
    all.addAll(parts);
    all.sort(Comparator.comparingInt(Call::rank));
    long left = (end - begin) * Math.max(1, threads.size());
    for (Call call : all) {
      long counted = Math.min(left, call.ownNanos);
      left -= counted;
      call.frame(base).addOwn(counted);
    }
  }

  /** Assigns each moment of a thread to the open call that began last. */
  private static void nest(List<Call> calls) {
    calls.sort(
        Comparator.comparingLong((Call call) -> call.node.span().startNanos())
            .thenComparingLong(call -> -call.node.span().endNanos())
            .thenComparingInt(Call::rank));
    Deque<Call> open = new ArrayDeque<>();
    long at = Long.MIN_VALUE;
    for (Call call : calls) {
      at = close(open, at, call.node.span().startNanos());
      call.outer = open.size() < DEEPEST ? open.peek() : null;
      open.push(call);
    }
    long ignored = close(open, at, Long.MAX_VALUE);
  }

  /**
   * Adds the time from {@code from} to {@code until} to the innermost open call, removes ended
   * calls, and returns {@code until}.
   */
  private static long close(Deque<Call> open, long from, long until) {
    long at = from;
    while (!open.isEmpty()) {
      Call top = Objects.requireNonNull(open.peek());
      long begin = Math.max(at, top.node.span().startNanos());
      long ended = top.node.span().endNanos();
      top.ownNanos += Math.max(0, Math.min(ended, until) - begin);
      at = Math.max(at, Math.min(ended, until));
      if (ended > until) {
        return at;
      }
      open.pop();
    }
    return Math.max(at, until);
  }

  private List<Call> intoFolded(Call wait) {
    String syscall = wait.node.detail().text(KernelAttributes.THREAD_SYSCALL);
    List<Call> parts = new ArrayList<>();
    for (Call around : folded) {
      boolean inside =
          syscall == null ? around.isSynchronisation() : around.name.equals("syscall." + syscall);
      if (inside && around.ownNanos > 0 && wait.ownNanos > 0) {
        parts.add(wait.moveInto(around));
      }
    }
    return parts;
  }
}
