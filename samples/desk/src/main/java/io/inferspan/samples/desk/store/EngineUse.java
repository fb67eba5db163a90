package io.inferspan.samples.desk.store;

/**
 * The time that a request spent in an engine.
 *
 * @param engine the engine's service and process
 */
public record EngineUse(String engine, long spanId, long startNanos, long endNanos) {}
