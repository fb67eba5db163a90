package io.inferspan.ebpf.coldstart;

/**
 * The enter or the exit of a call: one line of a file in vllm-coldstart-probe's format.
 *
 * @param timestampNanos on CLOCK_MONOTONIC
 * @param call the x86-64 number of a system call; from 1000 on, a library call
 * @param exit true for the exit, false for the enter
 * @param result the return value or the negated errno of an exit; 0 for an enter
 */
public record CallRecord(
    long timestampNanos, long pid, long tid, long call, boolean exit, long result) {}
