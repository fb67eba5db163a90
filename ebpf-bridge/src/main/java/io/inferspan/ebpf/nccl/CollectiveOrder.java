package io.inferspan.ebpf.nccl;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Compares the collectives that the ranks of a communicator executed under the same sequence
 * number. NCCL requires that they are equal; otherwise the ranks wait for each other forever, or
 * exchange wrong data.
 */
public final class CollectiveOrder {

  /** The number of collectives by which a rank may be behind another one. */
  private static final int WINDOW = 1_024;

  private static final int MOST_COMMUNICATORS = 256;

  /** The collectives by communicator, the least recently used first. */
  private final Map<String, Executed[]> communicators = new LinkedHashMap<>(16, 0.75f, true);

  /** The result of comparing a collective. */
  public enum Result {
    /** No other rank has executed it yet, or it is too old. */
    UNPAIRED,
    EQUAL,
    DIFFERENT
  }

  /** An operation as the first rank executed it. */
  private record Executed(long sequence, int rank, Object operation) {}

  /**
   * Compares a collective with that of the first rank that executed the same sequence number.
   *
   * @param operation what must be equal on all ranks
   */
  public Result add(Communicator communicator, long sequence, Object operation) {
    if (communicator.ranks() < 2) {
      return Result.UNPAIRED;
    }
    Executed[] window =
        communicators.computeIfAbsent(communicator.id(), any -> new Executed[WINDOW]);
    if (communicators.size() > MOST_COMMUNICATORS) {
      communicators.remove(communicators.keySet().iterator().next());
    }
    int at = (int) (sequence % WINDOW);
    Executed first = window[at];
    if (first == null || first.sequence < sequence) {
      window[at] = new Executed(sequence, communicator.rank(), operation);
    } else if (first.sequence == sequence && first.rank != communicator.rank()) {
      return first.operation.equals(operation) ? Result.EQUAL : Result.DIFFERENT;
    }
    return Result.UNPAIRED;
  }
}
