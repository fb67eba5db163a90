package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes read from an engine's response while it is forwarded. */
public final class ResponseAttributes {

  /** Milliseconds from arrival to the first token. */
  public static final Attribute<Double> FIRST_TOKEN_MS =
      number("inferspan.response.first_token_ms");

  /** The median gap between two tokens of a completion, in milliseconds. */
  public static final Attribute<Double> TOKEN_GAP_P50_MS =
      number("inferspan.response.token_gap.p50_ms");

  /** The 99th percentile of the gaps between tokens, in milliseconds. */
  public static final Attribute<Double> TOKEN_GAP_P99_MS =
      number("inferspan.response.token_gap.p99_ms");

  /** The longest gap between two tokens, in milliseconds. */
  public static final Attribute<Double> TOKEN_GAP_MAX_MS =
      number("inferspan.response.token_gap.max_ms");

  /** The number of stream events that contain content. */
  public static final Attribute<Long> TOKENS = count("inferspan.response.tokens");

  /** True if the response was received completely. */
  public static final Attribute<Boolean> COMPLETE = flag("inferspan.response.complete");

  /**
   * The content encoding of the body: {@code gzip}, {@code deflate}, {@code br}, {@code zstd} or
   * {@code other}.
   */
  public static final Attribute<String> ENCODING = text("inferspan.response.encoding");

  private ResponseAttributes() {}
}
