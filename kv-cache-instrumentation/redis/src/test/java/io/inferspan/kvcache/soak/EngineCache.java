package io.inferspan.kvcache.soak;

import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.soak.Prompts.Block;
import io.inferspan.kvcache.soak.Prompts.Text;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The simulated cache of an engine: it changes at random, reports the changes as events, and knows
 * its contents.
 *
 * <p>Events are msgpack lists; some are in forms that omit fields.
 */
final class EngineCache {

  private static final int MOST_BLOCKS = 250;
  private static final List<String> TIERS = List.of("gpu", "cpu");

  /** A block in a tier, and how often the engine says it stored it there. */
  private static final class Held {
    final Block block;
    int times;

    Held(Block block) {
      this.block = block;
    }
  }

  private final Prompts prompts;
  private final Random random;
  private final Map<String, Map<Long, Held>> tiers = new TreeMap<>();

  EngineCache(Prompts prompts, Random random) {
    this.prompts = prompts;
    this.random = random;
    TIERS.forEach(tier -> tiers.put(tier, new LinkedHashMap<>()));
  }

  /** Forgets everything, as an engine that starts. */
  void restart() {
    tiers.values().forEach(Map::clear);
  }

  /** Adds the pod's contents to {@code expected}, by block key. */
  void addTo(String pod, Map<Long, Set<PodEntry>> expected) {
    tiers.forEach(
        (tier, held) ->
            held.keySet()
                .forEach(
                    key ->
                        expected
                            .computeIfAbsent(key, k -> new java.util.HashSet<>())
                            .add(PodEntry.of(pod, tier))));
  }

  /** Changes a little, and says what changed. */
  List<Object> next() {
    List<Object> events = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      Object event = event();
      if (event != null) {
        events.add(event);
      }
    }
    return events;
  }

  private @Nullable Object event() {
    int size = tiers.values().stream().mapToInt(Map::size).sum();
    int die = random.nextInt(1_000);
    if (die < 2) {
      restart();
      return List.of("AllBlocksCleared");
    }
    boolean full = size > MOST_BLOCKS;
    if (die < (full ? 700 : 350)) {
      return removed();
    }
    return die < 800 ? stored() : copied();
  }

  private @Nullable Object stored() {
    Text text = prompts.any(random);
    int from = 0;
    while (from < text.blocks() - 1 && holds(text.keys()[from]) && random.nextInt(4) > 0) {
      from++;
    }
    int count = 1 + random.nextInt(Math.min(4, text.blocks() - from));
    String tier = tier();
    List<Long> hashes = new ArrayList<>();
    List<Integer> tokens = new ArrayList<>();
    for (int i = from; i < from + count; i++) {
      Block block = new Block(text, i);
      put(tier, block);
      hashes.add(block.hash());
      Arrays.stream(text.tokens(i)).forEach(tokens::add);
    }
    Block before = new Block(text, from).before();
    Long parent = before == null ? null : before.hash();
    return Arrays.asList(
        "BlockStored", hashes, parent, tokens, Prompts.BLOCK, null, medium(tier), text.lora());
  }

  /** A block that is now in one more tier; such events bring no tokens. */
  private @Nullable Object copied() {
    String from = tier();
    Held held = any(from);
    if (held == null) {
      return null;
    }
    String to = from.equals("gpu") ? "cpu" : "gpu";
    put(to, held.block);
    return Arrays.asList(
        "BlockStored",
        List.of(held.block.hash()),
        null,
        List.of(),
        Prompts.BLOCK,
        null,
        to.toUpperCase(java.util.Locale.ROOT));
  }

  private @Nullable Object removed() {
    String tier = tier();
    Map<Long, Held> there = held(tier);
    List<Long> hashes = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      Held held = any(tier);
      if (held != null) {
        hashes.add(held.block.hash());
        if (--held.times == 0) {
          there.remove(held.block.key());
        }
      }
    }
    return hashes.isEmpty() ? null : Arrays.asList("BlockRemoved", hashes, medium(tier));
  }

  private boolean holds(long key) {
    return tiers.values().stream().anyMatch(held -> held.containsKey(key));
  }

  private void put(String tier, Block block) {
    held(tier).computeIfAbsent(block.key(), key -> new Held(block)).times++;
  }

  private Map<Long, Held> held(String tier) {
    return tiers.computeIfAbsent(tier, any -> new HashMap<>());
  }

  private @Nullable Held any(String tier) {
    List<Held> all = List.copyOf(held(tier).values());
    return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
  }

  private String tier() {
    return TIERS.get(random.nextInt(4) == 0 ? 1 : 0);
  }

  /** Engines write it as they like, and the GPU's not at all. */
  private @Nullable String medium(String tier) {
    if (tier.equals("gpu") && random.nextBoolean()) {
      return null;
    }
    return random.nextBoolean() ? tier : tier.toUpperCase(java.util.Locale.ROOT);
  }
}
