package io.inferspan.kvcache.events;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A pod: its ledger, and how far the index can be trusted to say the same. */
final class PodBlocks {

  final String pod;
  final PodLedger ledger;

  /** Whether the index says nothing of the pod that is not in the ledger. */
  boolean whole;

  /** Whether the index is behind the ledger; nothing is written until it was written anew. */
  boolean behind;

  /** Whether the index may say of the pod what is no longer so. */
  boolean toBeCleared;

  /** Whether the index may have lost what it was told. */
  boolean suspect;

  /** Whether the pod is gone, and so is this once the index knows. */
  boolean leaving;

  /** The clearing under way, if any. */
  @Nullable CompletableFuture<?> clearing;

  PodBlocks(String pod, int mostBlocks) {
    this.pod = pod;
    this.ledger = new PodLedger(pod, mostBlocks);
  }

  boolean needy() {
    return behind || suspect;
  }
}
