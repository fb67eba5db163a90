package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes that are learnt from an engine's response as it passes. */
public final class ResponseAttributes {

  /** Milliseconds from arrival to the first token. */
  public static final Attribute<Double> FIRST_TOKEN_MS =
      number("inferspan.response.first_token_ms");

  /** The median gap between tokens of a choice. */
  public static final Attribute<Double> TOKEN_GAP_P50_MS =
      number("inferspan.response.token_gap.p50_ms");

  /** The gap that 99 of 100 gaps do not exceed. */
  public static final Attribute<Double> TOKEN_GAP_P99_MS =
      number("inferspan.response.token_gap.p99_ms");

  /** The longest gap between tokens. */
  public static final Attribute<Double> TOKEN_GAP_MAX_MS =
      number("inferspan.response.token_gap.max_ms");

  /** Events of the stream that carried content. */
  public static final Attribute<Long> TOKENS = count("inferspan.response.tokens");

  /** True if the response is complete. */
  public static final Attribute<Boolean> COMPLETE = flag("inferspan.response.complete");

  /** The content encoding of the body: gzip, deflate, br, zstd or other. */
  public static final Attribute<String> ENCODING = text("inferspan.response.encoding");

  private ResponseAttributes() {}
}
