/**
 * KV events: cache changes that engines publish over ZMQ in msgpack.
 *
 * <p>Contains the subscriber, the decoder, replay, and the repair of an index that failed. Bytes
 * from an engine are never trusted: a bad frame is counted and skipped.
 */
@NullMarked
package io.inferspan.kvcache.events;

import org.jspecify.annotations.NullMarked;
