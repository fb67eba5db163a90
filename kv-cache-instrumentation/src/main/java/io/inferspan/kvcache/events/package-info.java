/**
 * KV events: what engines publish about their caches, over ZMQ, in msgpack.
 *
 * <p>Here live the subscriber, the decoder, replay, and what keeps an index true to the events.
 * Bytes from an engine are never trusted: a bad frame is counted and skipped.
 */
@NullMarked
package io.inferspan.kvcache.events;

import org.jspecify.annotations.NullMarked;
