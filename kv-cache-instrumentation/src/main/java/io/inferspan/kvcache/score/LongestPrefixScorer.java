package io.inferspan.kvcache.score;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import java.util.Arrays;
import java.util.Map;

/**
 * Scores pods as llm-d's {@code LongestPrefix} does: a pod gets the weight of its best tier for
 * each block, from the first one until the first that it does not hold.
 */
public final class LongestPrefixScorer {

  private static final Map<String, Double> LLM_D = Map.of("gpu", 1.0, "cpu", 0.8);

  private static final PodEntry[] NO_PODS = {};
  private static final Double UNKNOWN_TIER = 1.0;
  private static final double NOT_HELD = -1;

  private final Map<String, Double> tierWeights;

  private LongestPrefixScorer(Map<String, Double> tierWeights) {
    this.tierWeights = tierWeights;
  }

  /** Creates a scorer with llm-d's weights: 1.0 for {@code gpu}, 0.8 for {@code cpu}. */
  public static LongestPrefixScorer withDefaults() {
    return new LongestPrefixScorer(LLM_D);
  }

  /**
   * Creates a scorer with only these weights.
   *
   * @param weights by tier in lower case; any other tier weighs 1.0
   */
  public static LongestPrefixScorer withTierWeights(Map<String, Double> weights) {
    weights.forEach(LongestPrefixScorer::check);
    return new LongestPrefixScorer(Map.copyOf(weights));
  }

  private static void check(String tier, Double weight) {
    if (!Double.isFinite(weight) || weight < 0) {
      throw new IllegalArgumentException(
          "The weight of tier '" + tier + "' is " + weight + "; it must be finite and at least 0");
    }
  }

  /**
   * Scores the pods that hold the start of a prompt.
   *
   * @param keys the number of blocks to consider, from the first
   */
  public PodScores score(BlockHits hits, int keys) {
    PodEntry[] first = keys == 0 ? NO_PODS : hits.at(0);
    if (first.length == 0) {
      return PodScores.NONE;
    }
    String[] pods = new String[first.length];
    double[] sums = new double[first.length];
    int size = distinctPods(first, pods);
    int inChain = size;
    for (int from = 0; from < keys && inChain > 0; ) {
      int to = endOfRun(hits, from, keys);
      inChain = extend(hits.at(from), to - from, pods, sums, inChain);
      from = to;
    }
    return new PodScores(pods, sums, size);
  }

  private static int distinctPods(PodEntry[] holders, String[] into) {
    int size = 0;
    for (PodEntry holder : holders) {
      if (position(holder.pod(), into, size) == size) {
        into[size++] = holder.pod();
      }
    }
    return size;
  }

  private static int position(String pod, String[] pods, int size) {
    int at = 0;
    while (at < size && !pods[at].equals(pod)) {
      at++;
    }
    return at;
  }

  /**
   * Returns the first position after {@code from} at which the holders differ. Neighbouring blocks
   * mostly have the same holders.
   */
  private static int endOfRun(BlockHits hits, int from, int keys) {
    PodEntry[] holders = hits.at(from);
    int to = from + 1;
    while (to < keys && same(hits.at(to), holders)) {
      to++;
    }
    return to;
  }

  @SuppressWarnings("ReferenceEquality") // the arrays are mostly identical
  private static boolean same(PodEntry[] one, PodEntry[] other) {
    return one == other || Arrays.equals(one, other);
  }

  /**
   * Adds the weight of a run of blocks, which have the same holders, to the sums. Moves pods that
   * do not hold the run to the end, and returns the number of pods that hold all blocks so far.
   */
  private int extend(PodEntry[] holders, int blocks, String[] pods, double[] sums, int inChain) {
    int left = inChain;
    for (int i = 0; i < left; ) {
      double weight = weight(holders, pods[i]);
      if (weight == NOT_HELD) {
        left--;
        swap(pods, sums, i, left);
      } else {
        sums[i] = plus(sums[i], weight, blocks);
        i++;
      }
    }
    return left;
  }

  private double weight(PodEntry[] holders, String pod) {
    double weight = NOT_HELD;
    for (PodEntry holder : holders) {
      if (holder.pod().equals(pod)) {
        weight = Math.max(weight, tierWeights.getOrDefault(holder.tier(), UNKNOWN_TIER));
      }
    }
    return weight;
  }

  /**
   * Adds a weight several times. Adds one by one, to match other implementations to the last bit,
   * unless the sum is exact because all numbers are whole.
   */
  private static double plus(double before, double weight, int times) {
    if (weight == 1 && before == Math.rint(before)) {
      return before + times;
    }
    double sum = before;
    for (int i = 0; i < times; i++) {
      sum += weight;
    }
    return sum;
  }

  private static void swap(String[] pods, double[] sums, int one, int other) {
    String pod = pods[one];
    pods[one] = pods[other];
    pods[other] = pod;
    double sum = sums[one];
    sums[one] = sums[other];
    sums[other] = sum;
  }
}
