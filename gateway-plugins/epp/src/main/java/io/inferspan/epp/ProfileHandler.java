package io.inferspan.epp;

import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides which profiles run for a request, in stages, and makes one result of theirs.
 *
 * <p>It is asked before the first stage and after each, until it has nothing more to run. It must
 * not block.
 */
public interface ProfileHandler extends Plugin {

  /**
   * Selects the profiles to run next.
   *
   * @param profiles the names of all profiles
   * @param results the endpoints chosen by the profiles that have run; empty if a profile found
   *     none
   */
  Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context);

  /** Returns the result once no profile is left to run. */
  SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results);

  /** Returns the form in which its decisions are recorded. */
  Shape shape();

  /** The forms in which a handler's decisions are recorded. */
  enum Shape {
    /** Not at all: there is nothing to decide. */
    SINGLE,
    /** As a decision between decode only and prefill plus decode. */
    PREFILL_DECODE,
    /** As one step over encode, prefill and decode. */
    STAGED
  }

  /**
   * One decision.
   *
   * @param profiles what to run next; empty where all is done
   * @param decision the decision in a word
   * @param reasoning how it came about, or null where nothing was weighed
   * @param decodeFailed whether decode ran and found no endpoint
   * @param prefillFailed whether prefill ran and found no endpoint
   */
  record Pick(
      List<String> profiles,
      String decision,
      @Nullable PdReasoning reasoning,
      boolean decodeFailed,
      boolean prefillFailed) {

    /** Runs one profile next. */
    public static Pick run(String profile, String decision) {
      return new Pick(List.of(profile), decision, null, false, false);
    }

    /** Runs nothing more. */
    public static Pick end(String decision) {
      return new Pick(List.of(), decision, null, false, false);
    }

    /** The same, and how it came about. */
    public Pick because(@Nullable PdReasoning reasoning) {
      return new Pick(profiles, decision, reasoning, decodeFailed, prefillFailed);
    }

    /** The same, after decode has found no endpoint. */
    public Pick withDecodeFailed() {
      return new Pick(profiles, decision, reasoning, true, prefillFailed);
    }

    /** The same, after prefill has found no endpoint, or has not. */
    public Pick withPrefillFailed(boolean failed) {
      return new Pick(profiles, decision, reasoning, decodeFailed, failed);
    }
  }
}
