package io.inferspan.samples.desk.store;

/**
 * That an engine worked on a request, and when.
 *
 * @param engine the engine's service and process
 */
public record EngineUse(String engine, long spanId, long startNanos, long endNanos) {}
