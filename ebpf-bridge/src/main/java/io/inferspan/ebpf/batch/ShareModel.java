package io.inferspan.ebpf.batch;

/** How the busy time of a step is divided among its members. */
public enum ShareModel {
  /** Each member the same. */
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
  /** By scheduled tokens; those of a prompt weigh more with the context that they attend to. */
  PREFILL_WEIGHTED("prefill_weighted") {
    @Override
    long weight(long tokens, boolean prefill, long context) {
      return tokens * (prefill ? CONTEXT + context + tokens / 2 : CONTEXT);
    }
  };

  /** The context at which a prompt token weighs twice what the first one does. */
  private static final long CONTEXT = 4_096;

  private final String word;

  ShareModel(String word) {
    this.word = word;
  }

  /** The value of {@code attribution.model}. */
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
      long upTo = (long) (step.busyNanos * (sum / total)); // Of the last: all of it.
      step.shares[i] = upTo - given;
      given = upTo;
    }
  }
}
