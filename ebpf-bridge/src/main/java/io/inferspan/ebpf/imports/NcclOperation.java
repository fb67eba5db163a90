package io.inferspan.ebpf.imports;

import org.jspecify.annotations.Nullable;

/**
 * A collective or a transfer as one rank executed it.
 *
 * @param call the call as in span names, such as {@code all_reduce}
 * @param peer the rank at the other end; null for a collective
 * @param busBandwidth in GB/s
 * @param traced whether its start was recorded; otherwise its end is the time of the record
 * @param enqueuedNanos when the host enqueued it; 0 if that was not recorded
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

  /** A rank of a communicator, with the number of its ranks and nodes; 0 if unknown. */
  record Rank(String communicator, long number, long ranks, long nodes, String host, long pid) {}
}
