package io.inferspan.samples.quickstart;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Knows which pod holds which beginnings of prompts, and picks the pod that holds most of one. */
final class PrefixScorer {

  /** About as much text as the 16 tokens of an engine's KV block. */
  static final int BLOCK_BYTES = 64;

  private static final int MAX_BLOCKS = 100_000;
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private final Telemetry telemetry;
  private final Map<Long, Set<String>> podsByBlock = new ConcurrentHashMap<>();

  PrefixScorer(Telemetry telemetry) {
    this.telemetry = telemetry;
  }

  /**
   * The pod for a prompt.
   *
   * @param pod the pod that holds most of it
   * @param blocks the prompt's whole blocks
   * @param hits how many of them, from the first on, the pod holds
   */
  record Match(String pod, List<Long> blocks, int hits) {

    long cachedBytes() {
      return (long) hits * BLOCK_BYTES;
    }
  }

  /** Scores the pods; of equals, the first in the list wins. */
  Match best(OperationSpan request, String model, byte[] prompt, List<String> pods) {
    try (OperationSpan span =
        telemetry
            .span(EppSpans.SCORER_PREFIX_CACHE, request)
            .set(GenAiAttributes.REQUEST_MODEL, model)
            .set(EppAttributes.SCORER_CANDIDATES, pods.size())
            .start()) {
      List<Long> blocks = blocks(prompt);
      Map<String, Integer> hits = hits(span, model, blocks, pods);
      Match best = null;
      for (String pod : pods) {
        int held = hits.getOrDefault(pod, 0);
        if (best == null || held > best.hits()) {
          best = new Match(pod, blocks, held);
        }
      }
      if (best == null) {
        throw new IllegalStateException("there is no pod to score");
      }
      span.set(EppAttributes.SCORE_MAX, (double) best.hits() / Math.max(1, blocks.size()))
          .set(EppAttributes.SCORER_SCORED, hits.size());
      return best;
    }
  }

  /** Notes that a pod has computed these blocks; engines would say so by KV events. */
  void remember(Match served) {
    if (podsByBlock.size() < MAX_BLOCKS) {
      for (Long block : served.blocks()) {
        podsByBlock.computeIfAbsent(block, b -> ConcurrentHashMap.newKeySet()).add(served.pod());
      }
    }
  }

  private Map<String, Integer> hits(
      OperationSpan scorer, String model, List<Long> blocks, List<String> pods) {
    try (OperationSpan span =
        telemetry
            .span(KvCacheSpans.GET_SCORES, scorer)
            .set(GenAiAttributes.REQUEST_MODEL, model)
            .set(KvCacheAttributes.POD_COUNT, pods.size())
            .set(KvCacheAttributes.PODS, pods)
            .set(KvCacheAttributes.BLOCK_KEYS, blocks.size())
            .start()) {
      List<Set<String>> holders = lookUp(span, blocks, pods);
      Map<String, Integer> hits = compute(span, holders);
      span.set(KvCacheAttributes.BLOCKS_FOUND, holders.size())
          .set(KvCacheAttributes.PODS_WITH_HITS, List.copyOf(hits.keySet()))
          .set(KvCacheAttributes.PODS_WITH_HITS_COUNT, hits.size())
          .set(KvCacheAttributes.HIT_RATIO, (double) hits.size() / pods.size());
      return hits;
    }
  }

  /** Who holds each block, up to the first that nobody holds. */
  private List<Set<String>> lookUp(OperationSpan scores, List<Long> blocks, List<String> pods) {
    try (OperationSpan span =
        telemetry
            .span(KvCacheSpans.LOOKUP, scores)
            .set(KvCacheAttributes.LOOKUP_BLOCKS, blocks.size())
            .set(KvCacheAttributes.LOOKUP_POD_FILTER, pods.size())
            .start()) {
      List<Set<String>> holders = new ArrayList<>();
      for (Long block : blocks) {
        Set<String> holding = podsByBlock.get(block);
        if (holding == null) {
          break;
        }
        holders.add(holding);
      }
      span.set(KvCacheAttributes.LOOKUP_HIT, !holders.isEmpty())
          .set(KvCacheAttributes.LOOKUP_FOUND, holders.size());
      return holders;
    }
  }

  /** The longest prefix of each pod: blocks in a row from the first on. */
  private Map<String, Integer> compute(OperationSpan scores, List<Set<String>> holders) {
    try (OperationSpan span =
        telemetry
            .span(KvCacheSpans.COMPUTE, scores)
            .set(KvCacheAttributes.ALGORITHM, "LongestPrefix")
            .set(KvCacheAttributes.SCORER_KEYS, holders.size())
            .start()) {
      Map<String, Integer> hits = new LinkedHashMap<>();
      for (int i = 0; i < holders.size(); i++) {
        for (String pod : holders.get(i)) {
          if (hits.getOrDefault(pod, 0) == i) {
            hits.put(pod, i + 1);
          }
        }
      }
      span.set(KvCacheAttributes.PODS_SCORED, hits.size());
      return hits;
    }
  }

  /** A running hash, taken at the end of each block, so that it stands for all before it, too. */
  private static List<Long> blocks(byte[] prompt) {
    List<Long> blocks = new ArrayList<>();
    long hash = FNV_OFFSET;
    for (int i = 0; i < prompt.length; i++) {
      hash = (hash ^ (prompt[i] & 0xff)) * FNV_PRIME;
      if ((i + 1) % BLOCK_BYTES == 0) {
        blocks.add(hash);
      }
    }
    return blocks;
  }
}
