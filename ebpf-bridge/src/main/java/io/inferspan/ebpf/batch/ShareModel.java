package io.inferspan.ebpf.batch;

/**
 * How the busy time of a step, in which the device worked for it, is divided among its members, the
 * requests in the step.
 */
public enum ShareModel {
  /** Equally. */
  EQUAL("equal") {
    @Override
    long weight(long tokens, boolean prefill, long context) {
      return 1;
    }
  },
  /** By scheduled tokens. */
  TOKENS("tokens") {
    @Override
    long weight(long tokens, boolean prefill, long context) {
      return tokens;
    }
  },
  /** By scheduled tokens; prompt tokens weigh more the longer their context is. */
  PREFILL_WEIGHTED("prefill_weighted") {
    @Override
    long weight(long tokens, boolean prefill, long context) {
      return tokens * (prefill ? CONTEXT + context + tokens / 2 : CONTEXT);
    }
  };

  /** The context length at which a prompt token weighs twice as much as the first one. */
  private static final long CONTEXT = 4_096;

  private final String word;

  ShareModel(String word) {
    this.word = word;
  }

  /** Returns the value of {@code attribution.model}. */
  public String word() {
    return word;
  }

  abstract long weight(long tokens, boolean prefill, long context);

  /** Divides the step's busy time; the shares add up to it exactly. */
  void share(Step step) {
    double total = 0;
    for (int i = 0; i < step.size; i++) {
      total += weight(step.tokens[i], step.prefill[i], step.contexts[i]);
    }
    double sum = 0;
    long given = 0;
    for (int i = 0; i < step.size; i++) {
      sum += weight(step.tokens[i], step.prefill[i], step.contexts[i]);
      long upTo = (long) (step.busyNanos * (sum / total)); // The last one is exactly busyNanos.
      step.shares[i] = upTo - given;
      given = upTo;
    }
  }
}
