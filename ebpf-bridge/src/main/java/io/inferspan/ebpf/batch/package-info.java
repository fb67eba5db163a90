/**
 * Engines that run many requests in one step: who was in which step, and whose share of its busy
 * time is whose.
 *
 * <p>All of it runs on the ring's thread and is bounded. Membership comes from marks of the engine
 * ({@code inferspan_ckp.h}); what was lost makes coverage less than 1 and is never guessed.
 */
@NullMarked
package io.inferspan.ebpf.batch;

import org.jspecify.annotations.NullMarked;
