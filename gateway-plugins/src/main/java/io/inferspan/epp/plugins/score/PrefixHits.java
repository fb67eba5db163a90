package io.inferspan.epp.plugins.score;

import io.opentelemetry.context.Context;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Whoever knows which pods hold the beginning of a prompt, most often a KV-cache index. */
@FunctionalInterface
public interface PrefixHits {

  /**
   * How much of the prompt each pod holds.
   *
   * <p>It must not block. A score counts blocks from the first on; a block in slow memory may count
   * for less than one.
   *
   * @param tokens the prompt, not to be changed or kept
   * @param model the model, or the LoRA adapter
   * @param pods the pods that count, as {@code host:port}
   * @param context the trace that the question belongs to
   * @return scores by pod; a pod that holds nothing may be left out
   */
  CompletionStage<Map<String, Double>> scores(
      int[] tokens, String model, Set<String> pods, Context context);
}
