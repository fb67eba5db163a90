package io.inferspan.ebpf.nccl;

import io.inferspan.ebpf.wire.Kind;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Compares the operations that ranks of this host executed under the same number of the same
 * communicator. NCCL requires that they are equal; otherwise the ranks wait for each other forever,
 * or exchange wrong data.
 */
public final class CollectiveOrder {

  /** How far a rank may be behind another one. */
  private static final int WINDOW = 1_024;

  private static final int MOST_COMMUNICATORS = 256;

  private final Map<String, Operation[]> communicators = new LinkedHashMap<>();

  /** The result of comparing a collective. */
  public enum Result {
    /** No other rank has executed it yet, or it is too old. */
    UNPAIRED,
    EQUAL,
    DIFFERENT
  }

  /** An operation as the first rank executed it. */
  private record Operation(long sequence, int rank, Kind kind, long elements, long detail) {

    /** Whether another rank executed the same one. */
    boolean isLike(Operation other) {
      return kind == other.kind && elements == other.elements && detail == other.detail;
    }
  }

  /** Adds a collective of one rank; {@code detail} has its data type, and its reduction or root. */
  Result add(Communicator communicator, long sequence, Kind kind, long elements, long detail) {
    if (communicator.ranks() < 2) {
      return Result.UNPAIRED;
    }
    Operation[] window =
        communicators.computeIfAbsent(communicator.id(), any -> new Operation[WINDOW]);
    if (communicators.size() > MOST_COMMUNICATORS) {
      communicators.remove(communicators.keySet().iterator().next());
    }
    int at = (int) (sequence % WINDOW);
    Operation ours = new Operation(sequence, communicator.rank(), kind, elements, detail);
    Operation first = window[at];
    if (first == null || first.sequence < sequence) {
      window[at] = ours;
    } else if (first.sequence == sequence && first.rank != ours.rank) {
      return first.isLike(ours) ? Result.EQUAL : Result.DIFFERENT;
    }
    return Result.UNPAIRED;
  }
}
