package io.inferspan.epp.plugins.score;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.PrefixMatches;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Prefers endpoints that received earlier prompts with the same prefix.
 *
 * <p>It needs no index: it stores, for each endpoint, the blocks of the prompts that were sent
 * there, and evicts the least recently used ones as the engine's cache does. Add it to the
 * scheduler twice: as a scorer, and as a {@link PreRequest} that stores the blocks.
 */
public final class ApproximatePrefixCacheScorer implements Scorer, PreRequest {

  private static final int MAX_SERVERS = 4096;
  private static final double LONG_MATCH_TOKENS = 8192;

  private final Settings settings;
  private final Map<String, LruMap<Long, Boolean>> servers = new LruMap<>(MAX_SERVERS);

  /** Creates a scorer with llm-d's defaults. */
  public ApproximatePrefixCacheScorer() {
    this(Settings.DEFAULT);
  }

  /** Creates a scorer with these settings. */
  public ApproximatePrefixCacheScorer(Settings settings) {
    this.settings = settings;
  }

  /**
   * Limits and weights of the scorer.
   *
   * @param blockTokens tokens in a block, if the first endpoint does not report it; fewer than 64
   *     count as 64
   * @param maxPrefixBlocks blocks of a prompt that are compared
   * @param maxPrefixTokens tokens of a prompt that are compared; 0 to use the limit in blocks
   * @param blocksPerServer blocks remembered per endpoint that does not report its cache size
   * @param lengthWeight the weight of the length of the match, from 0 to 1; the rest of the score
   *     is the share of the prompt that matches
   * @param autoTune whether the sizes of blocks and caches that endpoints report are used
   */
  public record Settings(
      int blockTokens,
      int maxPrefixBlocks,
      int maxPrefixTokens,
      int blocksPerServer,
      double lengthWeight,
      boolean autoTune) {

    /** llm-d's defaults. */
    public static final Settings DEFAULT = new Settings(16, 2048, 131_072, 31_250, 0, true);

    private static final int MIN_BLOCK_TOKENS = 64;

    /** The limit of a reported cache size, because each block needs memory here. */
    private static final int MAX_BLOCKS = 1 << 20;

    /** Checks the settings. */
    public Settings {
      if (blockTokens < 1 || maxPrefixBlocks < 0 || maxPrefixTokens < 0 || blocksPerServer < 1) {
        throw new IllegalArgumentException(
            "blockTokens and blocksPerServer of the prefix-cache scorer must be above 0,"
                + " maxPrefixBlocks and maxPrefixTokens 0 or more");
      }
      if (!(lengthWeight >= 0 && lengthWeight <= 1)) {
        throw new IllegalArgumentException(
            "the length weight of the prefix-cache scorer is "
                + lengthWeight
                + ", but must be 0 to 1");
      }
    }

    /**
     * Returns the block size for all endpoints: the size that the first one reports, else the
     * setting.
     */
    int blockTokens(List<Endpoint> endpoints) {
      boolean reported =
          autoTune && !endpoints.isEmpty() && endpoints.get(0).cache().blockTokens() > 0;
      return Math.max(
          MIN_BLOCK_TOKENS, reported ? endpoints.get(0).cache().blockTokens() : blockTokens);
    }

    int maxBlocks(int tokens) {
      return maxPrefixTokens > 0 ? maxPrefixTokens / tokens : maxPrefixBlocks;
    }

    /** Returns the capacity of an endpoint's cache in blocks of this size. */
    int blocks(Endpoint.Cache cache, int tokens) {
      boolean reported = autoTune && cache.blockTokens() > 0 && cache.blocks() > 0;
      long blocks = (long) cache.blocks() * cache.blockTokens() / tokens;
      return reported ? (int) Math.max(1, Math.min(MAX_BLOCKS, blocks)) : blocksPerServer;
    }
  }

  @Override
  public String type() {
    return "prefix-cache-scorer";
  }

  @Override
  public CompletionStage<Scores> score(
      Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
    PrefixBlocks prompt = blocks(cycle, endpoints);
    Map<String, Integer> blocks = new HashMap<>();
    for (int i = 0; i < endpoints.size(); i++) {
      String id = endpoints.get(i).id();
      int match = match(id, prompt.hashes());
      blocks.put(id, match);
      into.set(i, score(match, prompt));
    }
    cycle.leave(
        PrefixMatches.class, new PrefixMatches(prompt.blockTokens(), prompt.inputTokens(), blocks));
    return into.done();
  }

  /** Returns the prompt's blocks, hashed once for all profiles and for {@link #prepare}. */
  private PrefixBlocks blocks(Cycle cycle, List<Endpoint> endpoints) {
    PrefixBlocks known = cycle.note(PrefixBlocks.class);
    if (known != null) {
      return known;
    }
    int tokens = settings.blockTokens(endpoints);
    PrefixBlocks blocks = PrefixBlocks.of(cycle.request(), tokens, settings.maxBlocks(tokens));
    cycle.leave(PrefixBlocks.class, blocks);
    return blocks;
  }

  private double score(int match, PrefixBlocks prompt) {
    int total = prompt.hashes().length;
    if (total == 0) {
      return 0;
    }
    double share = (double) match / total;
    double length = Math.min(1, match * prompt.blockTokens() / LONG_MATCH_TOKENS);
    return (1 - settings.lengthWeight()) * share + settings.lengthWeight() * length * length;
  }

  private int match(String id, long[] hashes) {
    LruMap<Long, Boolean> held = server(id);
    if (held == null) {
      return 0;
    }
    synchronized (held) {
      int match = 0;
      while (match < hashes.length && held.get(hashes[match]) != null) {
        match++;
      }
      return match;
    }
  }

  @Override
  public void prepare(SchedulingResult result, Headers headers) {
    PrefixBlocks prompt = blocks(result.cycle(), result.targets());
    remember(result.target(), prompt);
    remember(result.prefillTarget(), prompt);
  }

  private void remember(@Nullable Endpoint endpoint, PrefixBlocks prompt) {
    if (endpoint == null) {
      return;
    }
    LruMap<Long, Boolean> held = serverOf(endpoint, prompt.blockTokens());
    synchronized (held) {
      for (long hash : prompt.hashes()) {
        held.put(hash, Boolean.TRUE);
      }
    }
  }

  private @Nullable LruMap<Long, Boolean> server(String id) {
    synchronized (servers) {
      return servers.get(id);
    }
  }

  private LruMap<Long, Boolean> serverOf(Endpoint endpoint, int blockTokens) {
    synchronized (servers) {
      return servers.computeIfAbsent(
          endpoint.id(), id -> new LruMap<>(settings.blocks(endpoint.cache(), blockTokens)));
    }
  }
}
