package io.inferspan.kvcache.events;

import java.util.List;

/**
 * What an engine told at once.
 *
 * @param epochSeconds when, by the engine's clock
 * @param events what, in order
 * @param rank the engine's data-parallel rank; -1 where it said none
 */
public record KvEventBatch(double epochSeconds, List<KvEvent> events, int rank) {}
