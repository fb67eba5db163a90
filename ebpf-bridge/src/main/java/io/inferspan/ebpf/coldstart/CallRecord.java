package io.inferspan.ebpf.coldstart;

/**
 * One end of a call, a line of the files that vllm-coldstart-probe writes.
 *
 * @param timestampNanos on CLOCK_MONOTONIC
 * @param call the number of the system call on x86-64, or from 1000 on that of a library call
 * @param exit whether the call ends
 * @param result what an exit returned, or the negated errno; 0 of an enter
 */
public record CallRecord(
    long timestampNanos, long pid, long tid, long call, boolean exit, long result) {}
