package io.inferspan.ebpf.coldstart;

/**
 * The entry or the exit of a call: one line of a file in vllm-coldstart-probe's format.
 *
 * @param timestampNanos the time on CLOCK_MONOTONIC
 * @param call the x86-64 number of a system call; from 1000 on, a library call
 * @param exit true for the exit, false for the entry
 * @param result the return value or the negated errno of an exit; 0 for an entry
 */
public record CallRecord(
    long timestampNanos, long pid, long tid, long call, boolean exit, long result) {}
