package io.inferspan.kvcache.events;

import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.events.KvEvent.AllBlocksCleared;
import io.inferspan.kvcache.events.KvEvent.BlockRemoved;
import io.inferspan.kvcache.events.KvEvent.BlockStored;
import io.inferspan.kvcache.events.KvEvent.Unreadable;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Applies engines' events to an index.
 *
 * <p>Engines identify blocks by their own hashes, but lookups use keys computed from tokens. The
 * indexer therefore computes the keys from the events' tokens, continuing from the key of the
 * previous block. Not thread-safe.
 */
final class KvEventIndexer {

  /** The cache kinds whose blocks depend on all tokens before them. */
  private static final Set<String> INDEXED =
      Set.of("full_attention", "mla_attention", "sink_full_attention");

  private final BlockKeys blockKeys;
  private final IndexWriter writer;
  private final KvEventCounts counts;

  KvEventIndexer(BlockKeys blockKeys, IndexWriter writer, KvEventCounts counts) {
    this.blockKeys = blockKeys;
    this.writer = writer;
    this.counts = counts;
  }

  /** Applies a batch to the index. */
  void apply(String podName, String model, KvEventBatch batch, Context context) {
    PodBlocks pod = writer.pod(podName);
    for (KvEvent event : batch.events()) {
      if (event instanceof BlockStored stored) {
        counts.increment(KvEventCount.STORED_EVENTS);
        stored(pod, model, stored, context);
      } else if (event instanceof BlockRemoved removed) {
        counts.increment(KvEventCount.REMOVED_EVENTS);
        removed(pod, removed, context);
      } else if (event instanceof AllBlocksCleared) {
        counts.increment(KvEventCount.CLEARED_EVENTS);
        writer.clear(pod);
      } else if (event instanceof Unreadable unreadable) {
        counts.skip(unreadable.reason());
      }
    }
    counts.received(batch.epochSeconds(), System.currentTimeMillis());
  }

  private void stored(PodBlocks pod, String model, BlockStored event, Context context) {
    if (event.cacheKind() != null && !INDEXED.contains(event.cacheKind())) {
      counts.skip(SkipReason.CACHE_KIND);
    } else if (event.hashes().length == 0) {
      counts.skip(SkipReason.MALFORMED);
    } else if (event.tokens().length == 0) {
      moved(pod, event, context);
    } else {
      computed(pod, model, event, context);
    }
  }

  private void computed(PodBlocks pod, String model, BlockStored event, Context context) {
    long after = 0;
    if (event.parent() != null) {
      long[] parent = keysOf(pod, event.parent());
      if (parent == null) {
        counts.skip(SkipReason.UNKNOWN_PARENT);
        return;
      }
      after = parent[parent.length - 1];
    }
    long[] keys = keys(model, after, event);
    PodBlocks.Tier tier = keys == null ? null : tier(pod, event);
    if (keys != null && tier != null) {
      pod.store(tier, event.hashes(), keys);
      counts.add(KvEventCount.STORED_BLOCKS, event.hashes().length);
      writer.add(pod, tier, event.hashes(), keys, context);
    }
  }

  /** Returns the blocks' keys; if there are none, counts the reason and returns null. */
  private long @Nullable [] keys(String model, long after, BlockStored event) {
    String name = BlockKeys.hashedName(model, event.loraName());
    long[] keys;
    try {
      keys = blockKeys.after(after, name, event.tokens(), extras(event));
    } catch (IllegalArgumentException e) {
      counts.skip(SkipReason.EXTRAS);
      return null;
    }
    if (keys.length == 0) {
      counts.skip(SkipReason.TOO_SHORT);
      return null;
    }
    return keys;
  }

  /**
   * Returns the extras without the adapter's name, which vLLM lists first; keys contain it in place
   * of the model's name.
   */
  private static BlockExtras extras(BlockStored event) {
    if (event.extras() == null) {
      return BlockExtras.none();
    }
    List<List<String>> others = new ArrayList<>(event.extras().size());
    for (List<String> one : event.extras()) {
      boolean first = !one.isEmpty() && one.get(0).equals(event.loraName());
      others.add(first ? one.subList(1, one.size()) : one);
    }
    return BlockExtras.ofBlocks(others);
  }

  private PodBlocks.@Nullable Tier tier(PodBlocks pod, BlockStored event) {
    PodBlocks.Tier tier = pod.hasRoom(event.hashes().length) ? pod.tier(event.place()) : null;
    if (tier == null) {
      counts.skip(SkipReason.TOO_MANY);
    }
    return tier;
  }

  /** Handles blocks without tokens: known blocks that are now in one more place. */
  private void moved(PodBlocks pod, BlockStored event, Context context) {
    PodBlocks.Tier tier = tier(pod, event);
    if (tier == null) {
      return;
    }
    boolean unknown = false;
    for (long hash : event.hashes()) {
      long[] keys = keysOf(pod, hash);
      if (keys == null) {
        unknown = true;
        continue;
      }
      long[] one = {hash};
      pod.store(tier, one, keys);
      counts.increment(KvEventCount.STORED_BLOCKS);
      writer.add(pod, tier, one, keys, context);
    }
    if (unknown) {
      counts.skip(SkipReason.UNKNOWN_BLOCK);
    }
  }

  /** Returns the keys of a block, from any pod's events; null if it is unknown. */
  private long @Nullable [] keysOf(PodBlocks pod, long hash) {
    long[] known = pod.keys(hash);
    if (known != null) {
      return known;
    }
    Long key = writer.requestKey(pod, hash);
    return key == null ? null : new long[] {key};
  }

  private void removed(PodBlocks pod, BlockRemoved event, Context context) {
    PodBlocks.Tier tier = pod.tier(event.place());
    if (tier == null) {
      counts.skip(SkipReason.TOO_MANY);
      return;
    }
    for (long hash : event.hashes()) {
      int left = tier.remove(hash);
      // An unknown block may be in the index from before this process started.
      if (left == 0 || (left < 0 && !pod.whole)) {
        counts.increment(KvEventCount.REMOVED_BLOCKS);
        writer.evict(pod, tier, hash, context);
      }
    }
  }
}
