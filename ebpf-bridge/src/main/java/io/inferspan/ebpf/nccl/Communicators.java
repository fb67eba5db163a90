package io.inferspan.ebpf.nccl;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The communicators whose creation was observed. Runs on the ring's thread.
 *
 * <p>The kernel's programs number the collectives of such a communicator from its creation. A
 * record of a call refers to its communicator and its sequence number in one word, {@code
 * ISPAN_COLLECTIVE} in {@code wire.h}; the word of any other communicator is its address.
 */
public final class Communicators {

  private static final int MOST = 4_096;
  private static final int NUMBER_SHIFT = 40;
  private static final long SEQUENCE = (1L << NUMBER_SHIFT) - 1;
  private static final long NUMBER = 0x7f_ffff;

  /** By number; the oldest is forgotten first. */
  private final Map<Long, Communicator> known = new LinkedHashMap<>();

  /** By process: the one with the most ranks, or the first of several. */
  private final Map<Integer, Communicator> largest = new HashMap<>();

  private final CollectiveOrder order = new CollectiveOrder();

  /** What is equal on all ranks; {@code detail} has the data type, and the reduction or root. */
  private record Operation(Kind kind, long elements, long detail) {}

  /** Notes a communicator that a process created. */
  public void created(EventView event) {
    Communicator made =
        new Communicator(
            "0x" + Long.toHexString(event.detail()),
            (int) (event.amount() >>> Integer.SIZE),
            (int) event.amount());
    known.put(event.extra() & NUMBER, made);
    if (known.size() > MOST) {
      known.remove(known.keySet().iterator().next());
    }
    if (largest.size() < MOST || largest.containsKey(event.tgid())) {
      largest.merge(event.tgid(), made, (old, one) -> one.ranks() > old.ranks() ? one : old);
    }
  }

  /** Forgets the rank of a process that exited, because its pid may be reused. */
  public void exited(int pid) {
    largest.remove(pid);
  }

  /**
   * Returns the rank of a process in its largest communicator; null if it is alone in each, or if
   * their creation was not observed.
   */
  public @Nullable String rank(int pid) {
    Communicator one = largest.get(pid);
    return one == null || one.ranks() < 2 ? null : String.valueOf(one.rank());
  }

  /** Returns the communicator to which a word of a record refers; null if it is unknown. */
  public @Nullable Communicator of(long word) {
    return word >= 0 ? null : known.get(word >>> NUMBER_SHIFT & NUMBER);
  }

  /** Returns the sequence number of a collective; 0 if it is unknown, or for a transfer. */
  public static long sequence(long word) {
    return word >= 0 ? 0 : word & SEQUENCE;
  }

  /**
   * Returns the word without the sequence number: the same for each operation of a communicator.
   */
  public static long withoutSequence(long word) {
    return word >= 0 ? word : word & ~SEQUENCE;
  }

  /**
   * Compares a collective with the collective that other ranks executed under the same sequence
   * number.
   */
  public CollectiveOrder.Result called(Kind kind, EventView event) {
    long sequence = sequence(event.extra());
    Communicator communicator = sequence == 0 ? null : of(event.extra());
    return communicator == null
        ? CollectiveOrder.Result.UNPAIRED
        : order.add(communicator, sequence, new Operation(kind, event.amount(), event.detail()));
  }
}
