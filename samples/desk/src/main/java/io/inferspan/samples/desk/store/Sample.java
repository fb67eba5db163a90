package io.inferspan.samples.desk.store;

import org.jspecify.annotations.Nullable;

/**
 * The figures of a request for percentiles and the history. A sample takes about 100 bytes, and is
 * kept longer than the request's spans.
 *
 * @param model the model; {@link #UNKNOWN} if no span has it
 * @param pod the decode pod, or the last engine if there is no P/D decision; {@link #UNKNOWN} if no
 *     span has it
 * @param prefillPod the pod that ran the prefill, if it is not the decode pod; else null
 * @param route the P/D decision; {@link #UNKNOWN} if there is none
 * @param ttftMillis NaN if no span recorded a first token
 * @param tokens 0 if no span counted them
 * @param kvHitRatio NaN if no span has it
 */
public record Sample(
    long startNanos,
    double tookMillis,
    Status status,
    String model,
    String pod,
    @Nullable String prefillPod,
    String route,
    double ttftMillis,
    long tokens,
    double kvHitRatio) {

  static final String UNKNOWN = "unknown";

  /** Returns the figures of a listed request. */
  public static Sample of(Summary summary) {
    Decision decision = summary.decision();
    Summary.Outcome outcome = summary.outcome();
    Long tokens = outcome.tokens();
    return new Sample(
        summary.head().startNanos(),
        summary.head().durationMillis(),
        outcome.status(),
        name(summary.model()),
        name(decision == null ? engine(summary) : decision.decodePod()),
        decision == null || decision.prefillPod() == null ? null : decision.prefillPod().intern(),
        name(decision == null ? null : decision.route()),
        orNaN(outcome.ttftMillis()),
        tokens == null ? 0 : tokens,
        orNaN(summary.kvHitRatio()));
  }

  /** Returns whether the pod ran prefill or decode of the request. */
  public boolean ranOn(String name) {
    return name.equals(pod) || name.equals(prefillPod);
  }

  private static @Nullable String engine(Summary summary) {
    return summary.engines().isEmpty() ? null : summary.engines().getLast().engine();
  }

  /** Interns names, because many requests share a few. */
  private static String name(@Nullable String name) {
    return name == null ? UNKNOWN : name.intern();
  }

  private static double orNaN(@Nullable Double value) {
    return value == null ? Double.NaN : value;
  }
}
