package io.inferspan.epp.plugins.score;

import io.opentelemetry.context.Context;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Finds the pods that hold the prefix of a prompt; usually a KV-cache index. */
@FunctionalInterface
public interface PrefixHits {

  /**
   * Returns the score of the prompt's prefix for each pod.
   *
   * <p>It must not block. A score counts blocks from the first on; a block in slow memory may count
   * for less than one.
   *
   * @param tokens the prompt, which must not be modified or kept
   * @param model the model, or the LoRA adapter
   * @param pods the pods to score, as {@code host:port}
   * @param context the trace context of the query
   * @return scores by pod; a pod without hits may be omitted
   */
  CompletionStage<Map<String, Double>> scores(
      int[] tokens, String model, Set<String> pods, Context context);
}
