package io.inferspan.ebpf.stacks;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The processes and requests whose stacks are counted.
 *
 * @param pids the processes; empty for all
 * @param byTrace whether each stack begins with the trace id of its thread's request, which needs a
 *     running bridge
 * @param traceId the trace whose stacks are counted; null for all
 */
public record StackScope(List<Integer> pids, boolean byTrace, @Nullable String traceId) {

  /** Copies the list. */
  public StackScope {
    pids = List.copyOf(pids);
  }

  /** Returns the scope of all stacks of these processes. */
  public static StackScope of(List<Integer> pids) {
    return new StackScope(pids, false, null);
  }

  boolean needsBridge() {
    return byTrace || traceId != null;
  }
}
