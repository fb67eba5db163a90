package io.inferspan.kvcache.events;

import java.util.List;

/**
 * The events that an engine sent in one message.
 *
 * @param epochSeconds the time by the engine's clock
 * @param events the events in order
 * @param rank the engine's data-parallel rank; -1 if it sent none
 */
public record KvEventBatch(double epochSeconds, List<KvEvent> events, int rank) {}
