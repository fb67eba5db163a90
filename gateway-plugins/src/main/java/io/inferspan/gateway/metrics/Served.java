package io.inferspan.gateway.metrics;

import org.jspecify.annotations.Nullable;

/**
 * A request that has ended.
 *
 * @param operation the requested operation
 * @param model the requested model, or null
 * @param tenant the tenant that the client named, or null
 * @param outcome the outcome of the request
 * @param arrivedNanos the time of arrival
 * @param endedNanos the time of the end, on the same clock
 */
public record Served(
    String operation,
    @Nullable String model,
    @Nullable String tenant,
    Outcome outcome,
    long arrivedNanos,
    long endedNanos) {}
