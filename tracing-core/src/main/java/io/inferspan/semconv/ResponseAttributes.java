package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;

/** Attributes that are learnt from an engine's response as it passes. */
public final class ResponseAttributes {

  public static final Attribute<Double> FIRST_TOKEN_MS =
      number("inferspan.response.first_token_ms", "Milliseconds from arrival to the first token.");
  public static final Attribute<Double> TOKEN_GAP_P50_MS =
      number("inferspan.response.token_gap.p50_ms", "The median gap between tokens.");
  public static final Attribute<Double> TOKEN_GAP_P99_MS =
      number("inferspan.response.token_gap.p99_ms", "The gap that 99 of 100 gaps do not exceed.");
  public static final Attribute<Double> TOKEN_GAP_MAX_MS =
      number("inferspan.response.token_gap.max_ms", "The longest gap between tokens.");
  public static final Attribute<Long> TOKENS =
      count("inferspan.response.tokens", "Events of the stream that carried content.");
  public static final Attribute<Boolean> COMPLETE =
      flag("inferspan.response.complete", "Whether the response came to its proper end.");

  private ResponseAttributes() {}
}
