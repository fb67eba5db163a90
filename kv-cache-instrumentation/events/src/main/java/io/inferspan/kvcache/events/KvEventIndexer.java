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
 * <p>Engines identify blocks by their own hashes, lookups by keys made from tokens. So keys are
 * computed here from the events' tokens, continuing from the key of the previous block. Not
 * thread-safe.
 */
final class KvEventIndexer {

  /** The cache kinds whose blocks depend on all tokens before them. */
  private static final Set<String> INDEXED =
      Set.of("full_attention", "mla_attention", "sink_full_attention");

  private final BlockKeys blockKeys;
  private final IndexKeeper keeper;
  private final KvEventCounts counts;

  KvEventIndexer(BlockKeys blockKeys, IndexKeeper keeper, KvEventCounts counts) {
    this.blockKeys = blockKeys;
    this.keeper = keeper;
    this.counts = counts;
  }

  /** Applies a batch to the index. */
  void apply(String podName, String model, KvEventBatch batch, Context context) {
    PodBlocks pod = keeper.pod(podName);
    for (KvEvent event : batch.events()) {
      if (event instanceof BlockStored stored) {
        counts.storedEvents.increment();
        stored(pod, model, stored, context);
      } else if (event instanceof BlockRemoved removed) {
        counts.removedEvents.increment();
        removed(pod, removed, context);
      } else if (event instanceof AllBlocksCleared) {
        counts.clearedEvents.increment();
        keeper.clear(pod);
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
    Long parent = null;
    if (event.parent() != null) {
      parent = parentKey(pod, event.parent());
      if (parent == null) {
        counts.skip(SkipReason.UNKNOWN_PARENT);
        return;
      }
    }
    long[] keys = keys(model, parent, event);
    if (keys != null) {
      PodBlocks.Tier tier = tier(pod, event);
      if (tier != null) {
        pod.store(tier, event.hashes(), keys);
        counts.storedBlocks.add(event.hashes().length);
        keeper.add(pod, event.hashes(), keys, tier.holders(), context);
      }
    }
  }

  private @Nullable Long parentKey(PodBlocks pod, long hash) {
    PodBlocks.Tier tier = pod.holding(hash);
    if (tier != null) {
      return tier.blocks().lastKey(tier.blocks().slot(hash));
    }
    return keeper.requestKey(pod, hash);
  }

  /** Returns the blocks' keys; null, and counted, if they cannot be computed. */
  private long @Nullable [] keys(String model, @Nullable Long parent, BlockStored event) {
    String name = BlockKeys.hashedName(model, event.loraName());
    long after = parent == null ? 0 : parent;
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
   * Removes the adapter's name, which vLLM lists first; our keys have it in place of the model's
   * name.
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
      counts.storedBlocks.increment();
      keeper.add(pod, one, keys, tier.holders(), context);
    }
    if (unknown) {
      counts.skip(SkipReason.UNKNOWN_BLOCK);
    }
  }

  private long @Nullable [] keysOf(PodBlocks pod, long hash) {
    PodBlocks.Tier known = pod.holding(hash);
    if (known == null) {
      Long key = keeper.requestKey(pod, hash);
      return key == null ? null : new long[] {key};
    }
    int slot = known.blocks().slot(hash);
    long[] wide = known.blocks().wideKeys(slot);
    return wide != null ? wide : new long[] {known.blocks().lastKey(slot)};
  }

  private void removed(PodBlocks pod, BlockRemoved event, Context context) {
    PodBlocks.Tier tier = pod.tier(event.place());
    if (tier == null) {
      counts.skip(SkipReason.TOO_MANY);
      return;
    }
    for (long hash : event.hashes()) {
      int left = tier.blocks().remove(hash);
      // An unknown block may be in the index from before this process started.
      if (left == 0 || (left < 0 && !pod.whole)) {
        counts.removedBlocks.increment();
        keeper.evict(pod, hash, tier.holders(), context);
      }
    }
  }
}
