package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides which profiles run for a request, in stages, and combines their results.
 *
 * <p>It is called before the first stage and after each one, until no profile is left to run. It
 * must not block.
 */
public interface ProfileHandler extends Plugin {

  /**
   * Selects the profiles to run next.
   *
   * @param profiles the names of all profiles
   * @param results the chosen endpoints by profile, for the profiles that have run; an empty list
   *     if a profile found none
   */
  Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context);

  /** Returns the result once no profile is left to run. */
  SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results);

  /** Returns which span records the decisions. */
  Shape shape();

  /** The spans that record decisions. */
  enum Shape {
    /** No span, because there is only one profile. */
    SINGLE,
    /** The span of a decision between decode only and prefill plus decode. */
    PREFILL_DECODE,
    /**
     * One span for each call of {@link #pick}, with the decision about encode, prefill and decode.
     */
    STAGED
  }

  /**
   * One decision.
   *
   * @param profiles the profiles to run next; empty to end
   * @param decision the name of the decision, such as {@code decode_only}
   * @param reasoning the measurements behind the decision, or null
   * @param decodeFailed whether decode ran and found no endpoint
   * @param prefillFailed whether prefill ran and found no endpoint
   */
  record Pick(
      List<String> profiles,
      String decision,
      @Nullable PdReasoning reasoning,
      boolean decodeFailed,
      boolean prefillFailed) {

    /** Returns a decision to run one profile next. */
    public static Pick run(String profile, String decision) {
      return new Pick(List.of(profile), decision, null, false, false);
    }

    /** Returns a decision that ends the cycle. */
    public static Pick end(String decision) {
      return new Pick(List.of(), decision, null, false, false);
    }

    /** Returns a copy with the measurements behind the decision. */
    public Pick because(@Nullable PdReasoning reasoning) {
      return new Pick(profiles, decision, reasoning, decodeFailed, prefillFailed);
    }

    /** Returns a copy that records that decode found no endpoint. */
    public Pick withDecodeFailed() {
      return new Pick(profiles, decision, reasoning, true, prefillFailed);
    }

    /** Returns a copy that records whether prefill failed to find an endpoint. */
    public Pick withPrefillFailed(boolean failed) {
      return new Pick(profiles, decision, reasoning, decodeFailed, failed);
    }
  }
}
