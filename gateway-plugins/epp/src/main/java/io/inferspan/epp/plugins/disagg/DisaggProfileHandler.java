package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * llm-d's {@code disagg-profile-handler}: runs decode, and encode and prefill if their deciders
 * require them, one stage after the other.
 *
 * <p>If prefill or encode finds no endpoint, the decode pod does that work. Of these two failures,
 * the span of the last {@link #pick} records only that of prefill.
 */
public final class DisaggProfileHandler implements ProfileHandler {

  private final Order order;
  private final String decode;
  private final String prefill;
  private final String encode;
  private final @Nullable Decider prefillDecider;
  private final @Nullable Decider encodeDecider;

  private DisaggProfileHandler(Builder builder) {
    this.order = builder.order;
    this.decode = builder.decode;
    this.prefill = builder.prefill;
    this.encode = builder.encode;
    this.prefillDecider = builder.prefillDecider;
    this.encodeDecider = builder.encodeDecider;
  }

  /** Returns a builder for a handler that only decodes by default. */
  public static Builder builder() {
    return new Builder();
  }

  /** The order of the stages. */
  public enum Order {
    /** Decode, encode, prefill: the decoder's cache determines whether to prefill. */
    DECODE_FIRST,
    /** Prefill, encode, decode: prefill always runs. */
    PREFILL_FIRST
  }

  @Override
  public String type() {
    return "disagg-profile-handler";
  }

  @Override
  public Shape shape() {
    return Shape.STAGED;
  }

  @Override
  public Pick pick(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
    boolean decodeRan = results.containsKey(decode);
    if (!profiles.contains(decode) && (order == Order.DECODE_FIRST || decodeRan)) {
      return Pick.end("error_missing_decode_profile");
    }
    if (decodeRan && results.getOrDefault(decode, List.of()).isEmpty()) {
      return Pick.end("complete").withDecodeFailed();
    }
    return order == Order.DECODE_FIRST
        ? decodeFirst(cycle, profiles, results)
        : prefillFirst(cycle, profiles, results);
  }

  private Pick decodeFirst(Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results) {
    List<Endpoint> decoders = results.get(decode);
    if (decoders == null) {
      return Pick.run(decode, "run_decode");
    }
    Pick next = encodeNext(cycle, profiles, results, decoders.get(0));
    if (next != null) {
      return next;
    }
    if (isOpen(prefill, profiles, results)) {
      PdReasoning reasoning = decide(prefillDecider, cycle, decoders.get(0));
      if (reasoning.disaggregate()) {
        return Pick.run(prefill, "run_prefill").because(reasoning);
      }
    }
    return complete(results);
  }

  private Pick prefillFirst(
      Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results) {
    if (results.containsKey(decode)) {
      return complete(results);
    }
    if (isOpen(prefill, profiles, results)) {
      return Pick.run(prefill, "run_prefill");
    }
    Pick next = encodeNext(cycle, profiles, results, null);
    if (next != null) {
      return next;
    }
    return profiles.contains(decode)
        ? Pick.run(decode, "run_decode")
        : Pick.end("error_missing_decode_profile");
  }

  private @Nullable Pick encodeNext(
      Cycle cycle,
      Set<String> profiles,
      Map<String, List<Endpoint>> results,
      @Nullable Endpoint decoder) {
    if (!isOpen(encode, profiles, results) || cycle.note(EncodeSkipped.class) != null) {
      return null;
    }
    PdReasoning reasoning = decide(encodeDecider, cycle, decoder);
    if (reasoning.disaggregate()) {
      return Pick.run(encode, "run_encode");
    }
    cycle.leave(EncodeSkipped.class, EncodeSkipped.NOTE);
    return null;
  }

  private static PdReasoning decide(
      @Nullable Decider decider, Cycle cycle, @Nullable Endpoint decoder) {
    return decider == null ? PdReasoning.of(false, "no_decider") : decider.decide(cycle, decoder);
  }

  private static boolean isOpen(
      String stage, Set<String> profiles, Map<String, List<Endpoint>> results) {
    return profiles.contains(stage) && !results.containsKey(stage);
  }

  /** Marks that the decider rejected an encode stage, so that it is called only once. */
  private record EncodeSkipped() {
    static final EncodeSkipped NOTE = new EncodeSkipped();
  }

  private Pick complete(Map<String, List<Endpoint>> results) {
    String used = hasRun(encode, results) ? "encode-" : "";
    String stages = hasRun(prefill, results) ? used + "prefill-decode" : used + "decode";
    return Pick.end("complete_" + (stages.equals("decode") ? "decode-only" : stages))
        .withPrefillFailed(results.containsKey(prefill) && !hasRun(prefill, results));
  }

  private static boolean hasRun(String stage, Map<String, List<Endpoint>> results) {
    return !results.getOrDefault(stage, List.of()).isEmpty();
  }

  @Override
  public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
    return Stages.result(cycle, results.get(decode))
        .withStages(results.get(prefill), results.get(encode));
  }

  /** Builder for {@link DisaggProfileHandler}. */
  public static final class Builder {
    private Order order = Order.DECODE_FIRST;
    private String decode = Stages.DECODE;
    private String prefill = Stages.PREFILL;
    private String encode = Stages.ENCODE;
    private @Nullable Decider prefillDecider;
    private @Nullable Decider encodeDecider;

    private Builder() {}

    /** Sets the order of the stages; decode first by default. */
    public Builder order(Order order) {
      this.order = order;
      return this;
    }

    /** Sets the names of the profiles; by default the names of the stages. */
    public Builder profiles(String decode, String prefill, String encode) {
      this.decode = decode;
      this.prefill = prefill;
      this.encode = encode;
      return this;
    }

    /** Sets the decider for prefill on another pod; by default the decode pod prefills. */
    public Builder prefillDecider(Decider decider) {
      this.prefillDecider = decider;
      return this;
    }

    /** Sets the decider for encoding on another pod; by default the decode pod encodes. */
    public Builder encodeDecider(Decider decider) {
      this.encodeDecider = decider;
      return this;
    }

    /** Builds the handler. */
    public DisaggProfileHandler build() {
      if (order == Order.PREFILL_FIRST && prefillDecider != null) {
        throw new IllegalArgumentException(
            "disagg-profile-handler: a prefill decider has no effect with PREFILL_FIRST; remove it,"
                + " or use DECODE_FIRST");
      }
      return new DisaggProfileHandler(this);
    }
  }
}
