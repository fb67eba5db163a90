package io.inferspan.kvcache.index;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A block index in the memory of this process.
 *
 * <p>It answers synchronously on the caller's thread. Blocks and bytes are limited; above a limit,
 * the index evicts the blocks that were read and written least recently and least often.
 *
 * <p>Unlike a lookup in Redis, a lookup does not stop at the first block without holders.
 */
public final class MemoryBlockIndex implements BlockIndex {

  private static final CompletionStage<Void> DONE = CompletableFuture.completedStage(null);

  private final BlockTable blocks;
  private final EngineTable engines;
  private final ThreadPoolExecutor sweeper;
  private volatile boolean closed;

  private MemoryBlockIndex(Builder builder) {
    // Lookups need only the blocks, so engines' hashes get the smaller share of the memory.
    long engineBytes = Math.max(1, builder.maxBytes / 3);
    long blockBytes = Math.max(1, builder.maxBytes - engineBytes);
    this.blocks =
        new BlockTable(new MemoryBound(builder.maxBlocks, blockBytes), builder.podCacheSize);
    this.engines = new EngineTable(new MemoryBound(builder.maxBlocks, engineBytes));
    this.sweeper = sweeper();
  }

  /**
   * Returns an executor that runs one sweep and queues at most one more. The queued sweep covers
   * all pods cleared before it starts, so further ones are discarded.
   */
  private static ThreadPoolExecutor sweeper() {
    ThreadPoolExecutor sweeper =
        new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(1),
            work -> {
              Thread thread = new Thread(work, "inferspan-kv-sweep");
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    sweeper.allowCoreThreadTimeOut(true);
    return sweeper;
  }

  /** Creates an index with llm-d's limits, as far as memory allows. */
  public static MemoryBlockIndex withDefaults() {
    return builder().build();
  }

  /** Returns a builder for an index with other limits. */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public CompletionStage<BlockHits> lookup(
      long[] keys, Set<String> pods, BlockHits into, Context context) {
    into.reset(keys.length);
    if (!closed) {
      blocks.find(keys, pods, into);
    }
    return into.completed();
  }

  @Override
  public boolean answersAtOnce() {
    return true;
  }

  @Override
  public int knownPods() {
    return blocks.pods();
  }

  @Override
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    if (!closed && !holders.isEmpty()) {
      // Blocks first: an eviction drops a hash whose blocks have no holders.
      blocks.add(requestKeys, holders);
      engines.map(engineKeys, requestKeys);
    }
    return DONE;
  }

  @Override
  public CompletionStage<Void> evict(
      long key, KeyType type, List<PodEntry> holders, Context context) {
    switch (type) {
      case REQUEST -> blocks.remove(new long[] {key}, holders);
      case ENGINE -> evictEngine(key, holders);
    }
    return DONE;
  }

  private void evictEngine(long engineKey, List<PodEntry> holders) {
    long[] requestKeys = engines.of(engineKey);
    if (requestKeys != null) {
      blocks.remove(requestKeys, holders);
      engines.dropUnless(engineKey, blocks::holdsAny);
    }
  }

  @Override
  public CompletionStage<OptionalLong> requestKey(long engineKey) {
    long[] requestKeys = engines.of(engineKey);
    return CompletableFuture.completedStage(
        requestKeys == null
            ? OptionalLong.empty()
            : OptionalLong.of(requestKeys[requestKeys.length - 1]));
  }

  /**
   * Removes a pod from all blocks.
   *
   * <p>Lookups ignore the pod from now on. A background thread then removes it from the blocks;
   * until that ends, {@link #size()} also counts blocks without holders.
   */
  @Override
  public CompletionStage<Void> clear(String pod) {
    blocks.clear(pod);
    sweeper.execute(this::sweep);
    return DONE;
  }

  private void sweep() {
    if (closed) {
      blocks.drop();
      engines.drop();
    } else {
      blocks.sweep(() -> closed);
    }
  }

  /** Returns the number of blocks. */
  public long size() {
    return blocks.size();
  }

  /** Returns the number of blocks evicted because of a limit. */
  public long evictions() {
    return blocks.evictions();
  }

  /** Returns the number of engines' hashes evicted because of a limit. */
  public long engineEvictions() {
    return engines.evictions();
  }

  /** Returns how often a holder was displaced because a block had too many. */
  public long displacedHolders() {
    return blocks.displaced();
  }

  @Override
  public void close() {
    closed = true;
    // Releases memory in the background, because that takes time.
    sweeper.execute(this::sweep);
    sweeper.shutdown();
  }

  /** Builder for {@link MemoryBlockIndex}. */
  public static final class Builder {

    private static final long MAX_BLOCKS = 1L << 40;
    private static final long DEFAULT_MAX_BYTES = 2L << 30;

    private long maxBlocks = 100_000_000;
    private long maxBytes = Math.min(DEFAULT_MAX_BYTES, Runtime.getRuntime().maxMemory() / 4);
    private int podCacheSize = 10;

    private Builder() {}

    /** Sets the limit for blocks, and the same for engines' hashes; 100,000,000 by default. */
    public Builder maxBlocks(long blocks) {
      maxBlocks = allowed("maxBlocks", blocks, MAX_BLOCKS);
      return this;
    }

    /**
     * Sets the limit for the estimated size in bytes; by default a quarter of the heap, at most 2
     * GiB.
     */
    public Builder maxBytes(long bytes) {
      maxBytes = allowed("maxBytes", bytes, Long.MAX_VALUE >>> 1);
      return this;
    }

    /** Sets the limit for holders of a block; 10 by default. The oldest holder is displaced. */
    public Builder podCacheSize(int holders) {
      podCacheSize = (int) allowed("podCacheSize", holders, Short.MAX_VALUE);
      return this;
    }

    private static long allowed(String name, long value, long most) {
      if (value < 1 || value > most) {
        throw new IllegalArgumentException(
            name + " is " + value + "; it must be between 1 and " + most);
      }
      return value;
    }

    /** Returns an empty index. */
    public MemoryBlockIndex build() {
      return new MemoryBlockIndex(this);
    }
  }
}
