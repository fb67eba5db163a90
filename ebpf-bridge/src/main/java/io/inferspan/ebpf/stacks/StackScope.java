package io.inferspan.ebpf.stacks;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose stacks are counted.
 *
 * @param pids processes; empty for all
 * @param byTrace whether each stack begins with the trace that its thread worked for, which a
 *     running bridge knows
 * @param traceId the only trace whose stacks are counted; null for whatever threads work for
 */
public record StackScope(List<Integer> pids, boolean byTrace, @Nullable String traceId) {

  /** Copies the list. */
  public StackScope {
    pids = List.copyOf(pids);
  }

  /** Processes, whatever they work for. */
  public static StackScope of(List<Integer> pids) {
    return new StackScope(pids, false, null);
  }

  boolean needsBridge() {
    return byTrace || traceId != null;
  }
}
