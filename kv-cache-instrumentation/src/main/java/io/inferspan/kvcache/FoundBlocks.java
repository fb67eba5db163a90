package io.inferspan.kvcache;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Counts the result of a lookup, for spans.
 *
 * <p>Neighbouring blocks mostly have the same holders and share one array. So the pods of a block
 * are collected only if its array differs from that of the previous block with holders.
 *
 * @param blocks blocks held by at least one pod
 * @param entries the number of holders, summed over all blocks
 * @param pods the pods that hold at least one block, in the order of the prompt
 */
record FoundBlocks(int blocks, long entries, Set<String> pods) {

  private static final PodEntry[] NO_PODS = {};

  @SuppressWarnings("ReferenceEquality") // see above
  static FoundBlocks in(BlockHits hits) {
    int blocks = 0;
    long entries = 0;
    Set<String> pods = new LinkedHashSet<>();
    PodEntry[] before = NO_PODS;
    for (int i = 0; i < hits.size(); i++) {
      PodEntry[] holders = hits.at(i);
      if (holders.length > 0) {
        blocks++;
        entries += holders.length;
        if (holders != before) {
          addNew(holders, before, pods);
          before = holders;
        }
      }
    }
    return new FoundBlocks(blocks, entries, pods);
  }

  /** Returns the length of the longest gapless prefix that a single pod holds, in blocks. */
  static int longestChain(BlockHits hits) {
    if (hits.size() == 0 || hits.at(0).length == 0) {
      return 0;
    }
    Set<String> unbroken = pods(hits.at(0));
    for (int i = 1; i < hits.size(); i++) {
      if (!same(hits.at(i), hits.at(i - 1))) {
        unbroken.retainAll(pods(hits.at(i)));
        if (unbroken.isEmpty()) {
          return i;
        }
      }
    }
    return hits.size();
  }

  private static Set<String> pods(PodEntry[] holders) {
    Set<String> pods = new HashSet<>();
    addNew(holders, NO_PODS, pods);
    return pods;
  }

  @SuppressWarnings("ReferenceEquality") // adding an equal copy has no effect
  private static void addNew(PodEntry[] holders, PodEntry[] before, Set<String> pods) {
    for (int i = 0; i < holders.length; i++) {
      if (i >= before.length || before[i] != holders[i]) {
        pods.add(holders[i].pod());
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // equal copies take the slow path
  private static boolean same(PodEntry[] holders, PodEntry[] before) {
    if (holders == before) {
      return true;
    }
    if (holders.length != before.length) {
      return false;
    }
    for (int i = 0; i < holders.length; i++) {
      if (before[i] != holders[i]) {
        return false;
      }
    }
    return true;
  }
}
