package io.inferspan.gateway.metrics;

import org.jspecify.annotations.Nullable;

/**
 * A request that has ended.
 *
 * @param operation what was asked for
 * @param model that the client named; null where it named none
 * @param outcome how it ended
 * @param arrivedNanos when it arrived
 * @param endedNanos when it ended, on the same clock
 */
public record Served(
    String operation,
    @Nullable String model,
    Outcome outcome,
    long arrivedNanos,
    long endedNanos) {}
