package io.inferspan.ebpf.wire;

/**
 * The calls of one owner and kind that a capture policy did not keep, since they were taken last.
 *
 * @param count the calls that were folded; the times and the amount are theirs
 * @param dropped the calls that were dropped
 * @param minNanos the shortest call of the owner, also of those taken earlier
 * @param maxNanos the longest, likewise
 * @param firstNanos when the first began, or the last of those taken earlier ended
 * @param lastNanos when the last ended
 * @param generation the generation of the policy that decided last
 */
public record KernelSum(
    Kind kind,
    long count,
    long dropped,
    long sumNanos,
    long minNanos,
    long maxNanos,
    long amount,
    long firstNanos,
    long lastNanos,
    int tgid,
    int source,
    int generation) {}
