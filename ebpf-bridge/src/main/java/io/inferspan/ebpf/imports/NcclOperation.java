package io.inferspan.ebpf.imports;

import org.jspecify.annotations.Nullable;

/**
 * A collective or a transfer as one rank executed it.
 *
 * @param call the name of the call as in span names, such as {@code all_reduce}
 * @param sequence its sequence number among the communicator's calls of this name
 * @param peer the other rank of a transfer; null for a collective
 * @param busBandwidth the bus bandwidth in GB/s; null if it was not recorded
 * @param traced whether the inspector recorded the time of its start. If not, {@code endNanos} is
 *     when the inspector wrote the record, and {@code beginNanos} is computed from the duration
 * @param enqueuedNanos when the host enqueued it; 0 unless {@code traced}
 */
record NcclOperation(
    Rank rank,
    String call,
    long sequence,
    @Nullable Long peer,
    long bytes,
    @Nullable Double busBandwidth,
    @Nullable String algorithm,
    @Nullable String timingSource,
    boolean traced,
    long enqueuedNanos,
    long beginNanos,
    long endNanos) {

  /** A rank, and how many ranks and nodes its communicator has; 0 if unknown. */
  record Rank(String communicator, long number, long ranks, long nodes, String host, long pid) {}
}
