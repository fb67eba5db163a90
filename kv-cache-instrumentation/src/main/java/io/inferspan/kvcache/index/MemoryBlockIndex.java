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
 * The index in this process's memory.
 *
 * <p>It answers at once and on the caller's thread. It holds no more blocks and no more bytes than
 * it may; beyond that, blocks go that were asked for and told of least lately and least often.
 *
 * <p>A block that nobody holds is no different from one that was never told of, and a lookup goes
 * on behind it.
 */
public final class MemoryBlockIndex implements BlockIndex {

  private static final CompletionStage<Void> DONE = CompletableFuture.completedStage(null);

  private final BlockTable blocks;
  private final EngineTable engines;
  private final ThreadPoolExecutor sweeper;
  private volatile boolean closed;

  private MemoryBlockIndex(Builder builder) {
    // An engine's hash costs about half of what a block costs that some pods hold.
    long engineBytes = Math.max(1, builder.maxBytes / 3);
    long blockBytes = Math.max(1, builder.maxBytes - engineBytes);
    this.blocks =
        new BlockTable(new MemoryBound(builder.maxBlocks, blockBytes), builder.podCacheSize);
    this.engines = new EngineTable(new MemoryBound(builder.maxBlocks, engineBytes));
    this.sweeper = sweeper();
  }

  /** At most one sweep runs and one waits, which will see all that was cleared before it. */
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

  /** An index with the bounds that llm-d has, as far as memory allows. */
  public static MemoryBlockIndex withDefaults() {
    return builder().build();
  }

  /** An index with bounds of its own. */
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
  public CompletionStage<Void> add(
      long[] engineKeys, long[] requestKeys, List<PodEntry> holders, Context context) {
    if (!closed && !holders.isEmpty()) {
      // Blocks first: a hash whose blocks nobody holds is forgotten by the next eviction.
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
   * Takes a pod from all blocks.
   *
   * <p>Lookups do not see it from here on. A thread of the index takes it out of the blocks, which
   * takes as long as it takes; until then {@link #size()} counts blocks that nobody holds.
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

  /** How many blocks it holds. */
  public long size() {
    return blocks.size();
  }

  /** How many blocks had to go because there were too many. */
  public long evictions() {
    return blocks.evictions();
  }

  /** How many hashes of engines had to go because there were too many. */
  public long engineEvictions() {
    return engines.evictions();
  }

  /** How many times a holder had to leave a block because it had too many. */
  public long displacedHolders() {
    return blocks.displaced();
  }

  @Override
  public void close() {
    closed = true;
    // Memory is let go behind the caller's back, since that takes time too.
    sweeper.execute(this::sweep);
    sweeper.shutdown();
  }

  /** How large the index may get. */
  public static final class Builder {

    private static final long MOST_BLOCKS = 1L << 40;
    private static final long DEFAULT_MOST_BYTES = 2L << 30;

    private long maxBlocks = 100_000_000;
    private long maxBytes = Math.min(DEFAULT_MOST_BYTES, Runtime.getRuntime().maxMemory() / 4);
    private int podCacheSize = 10;

    private Builder() {}

    /** How many blocks it may hold, and how many hashes of engines; 100,000,000 by default. */
    public Builder maxBlocks(long blocks) {
      maxBlocks = allowed("maxBlocks", blocks, MOST_BLOCKS);
      return this;
    }

    /**
     * How many bytes of the heap it may take, as far as they can be reckoned. By default a quarter
     * of the heap, but no more than 2 GiB.
     */
    public Builder maxBytes(long bytes) {
      maxBytes = allowed("maxBytes", bytes, Long.MAX_VALUE >>> 1);
      return this;
    }

    /** How many holders a block may have, 10 by default; the one that was added first leaves. */
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

    /** The index, empty. */
    public MemoryBlockIndex build() {
      return new MemoryBlockIndex(this);
    }
  }
}
