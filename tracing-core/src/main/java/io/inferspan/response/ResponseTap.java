package io.inferspan.response;

import io.inferspan.OperationSpan;
import io.inferspan.json.JsonScanner;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Observes an engine's response while it is forwarded, and records token times, usage, errors, and
 * whether the response is complete. The response is JSON or a stream of server-sent events.
 *
 * <p>It reads the responses of OpenAI's chat completions, completions and responses APIs and of
 * Anthropic's messages API. Bytes are read in place, in pieces of any size; at most {@link
 * #MAX_HELD_BYTES} are stored. No method throws. Use one tap per response; it is not thread-safe.
 *
 * <p>A token is an event with content: text, reasoning, or a part of a tool call. Comments and
 * events with only a role are not tokens. The caller passes all times, on one monotonic clock.
 */
public final class ResponseTap {

  /**
   * The maximum memory of a tap, in bytes. Decoding a compressed body needs another 4 KiB, plus
   * zlib's off-heap window until {@link #end}.
   */
  public static final int MAX_HELD_BYTES = 8 * 1024;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final String UNNAMED_ERROR = "stream_error";

  private final ResponseFacts facts;
  private final @Nullable EventStream events;
  private final @Nullable JsonScanner json;
  private final @Nullable String encoding;
  private @Nullable BodyDecoder decoder;
  private boolean unreadable;
  private boolean seeing;
  private long endNanos;

  private ResponseTap(String mediaType, @Nullable String encoding) {
    this.encoding = encoding;
    boolean stream = mediaType.equals("text/event-stream");
    boolean document =
        mediaType.equals("application/json") || mediaType.equals("application/problem+json");
    facts = new ResponseFacts(stream);
    events = stream ? new EventStream(facts) : null;
    json = document ? new JsonScanner(ResponseGrammar.GRAMMAR, facts) : null;
    seeing = stream || document;
  }

  /**
   * Creates a tap for a body with this {@code Content-Type}; it ignores types other than JSON and
   * event streams.
   */
  public static ResponseTap forContentType(@Nullable CharSequence contentType) {
    return of(contentType, null);
  }

  private static ResponseTap of(@Nullable CharSequence contentType, @Nullable String encoding) {
    String type = contentType == null ? "" : contentType.toString();
    int parameters = type.indexOf(';');
    String mediaType = parameters < 0 ? type : type.substring(0, parameters);
    return new ResponseTap(mediaType.strip().toLowerCase(Locale.ROOT), encoding);
  }

  /**
   * Creates a tap for a body with these headers. It decodes {@code gzip} and {@code deflate}, up to
   * 16 MiB, and ignores bodies in other encodings.
   */
  public static ResponseTap forHeaders(
      @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    String encoding = BodyDecoder.known(contentEncoding);
    return encoding == null || BodyDecoder.decodes(encoding)
        ? of(contentType, encoding)
        : new ResponseTap("", encoding);
  }

  /** Creates a tap that ignores everything. */
  public static ResponseTap blind() {
    return new ResponseTap("", null);
  }

  /** Inspects the bytes between position and limit without changing the buffer. */
  public void see(ByteBuffer bytes, long nowNanos) {
    if (!seeing) {
      return;
    }
    try {
      if (encoding == null) {
        seePlain(bytes, nowNanos);
      } else {
        seeEncoded(bytes, nowNanos);
      }
    } catch (DataFormatException notDecodable) {
      unreadable = true;
      stop();
    } catch (RuntimeException closedMemory) {
      stop();
    }
  }

  private void seeEncoded(ByteBuffer bytes, long nowNanos) throws DataFormatException {
    BodyDecoder decoding = decoder;
    if (decoding == null) {
      decoding = BodyDecoder.of(Objects.requireNonNull(encoding));
      decoder = decoding;
    }
    decoding.decode(bytes, piece -> seePlain(piece, nowNanos));
  }

  private void seePlain(ByteBuffer bytes, long nowNanos) {
    if (events != null) {
      events.see(bytes, nowNanos);
    } else if (json != null) {
      seeJson(json, bytes, nowNanos);
    }
  }

  private void stop() {
    seeing = false;
    if (decoder != null) {
      decoder.close();
    }
  }

  private static void seeJson(JsonScanner json, ByteBuffer bytes, long nowNanos) {
    int end = bytes.limit();
    int at = bytes.position();
    while (at < end) {
      at = json.scan(bytes, at, end, nowNanos) + 1;
    }
  }

  /** Ends the body; later bytes are ignored. */
  public void end(long nowNanos) {
    if (seeing) {
      endNanos = nowNanos;
    }
    stop();
  }

  /** Returns whether this body is observed and has not ended. */
  public boolean isSeeing() {
    return seeing;
  }

  /** Returns whether a token has arrived; always false for a body that is not a stream. */
  public boolean hasFirstToken() {
    return facts.tokens > 0;
  }

  /** Returns the time of the first token; zero if there was none. */
  public long firstTokenNanos() {
    return facts.firstTokenNanos;
  }

  /** Returns the time of the last token; zero if there was none. */
  public long lastTokenNanos() {
    return facts.lastTokenNanos;
  }

  /** Returns the time of the body's end; zero if it has not ended or is not observed. */
  public long endNanos() {
    return endNanos;
  }

  /** Returns the number of events with content. */
  public long tokens() {
    return facts.tokens;
  }

  /** Returns a quantile of the token gaps, accurate to 5 %; -1 if there was no gap. */
  public long gapNanos(double quantile) {
    TokenGaps gaps = facts.gaps;
    return gaps == null ? -1 : gaps.nanos(quantile);
  }

  /** Returns the longest token gap; -1 if there was no gap. */
  public long maxGapNanos() {
    TokenGaps gaps = facts.gaps;
    return gaps == null ? -1 : gaps.maxNanos();
  }

  /** Returns the tokens of the prompt, including cached ones; -1 if not reported. */
  public long promptTokens() {
    return facts.promptTokens();
  }

  /** Returns the generated tokens; -1 if not reported. */
  public long completionTokens() {
    return facts.completionTokens;
  }

  /**
   * Returns the generated tokens; for an incomplete stream without usage, those counted so far; -1
   * if neither is known.
   */
  public long generatedTokens() {
    return facts.generatedTokens();
  }

  /**
   * Returns the number of choices with content: more than one if the client requested {@code n >
   * 1}.
   */
  public int choices() {
    return facts.choices();
  }

  /** Returns the tokens of the prompt that were cached; -1 if not reported. */
  public long cachedTokens() {
    return facts.cachedTokens();
  }

  /** Returns the generated tokens that were spent on reasoning; -1 if not reported. */
  public long reasoningTokens() {
    return facts.reasoningTokens;
  }

  /** Returns the finish reasons of the choices in order, at most sixteen. */
  public List<String> finishReasons() {
    return facts.finishReasons();
  }

  /** Returns the model that answered, truncated to 128 bytes; null if not reported. */
  public @Nullable String model() {
    return facts.model.isEmpty() ? null : facts.model;
  }

  /** Returns whether the response contains an error, within its stream or as its whole body. */
  public boolean failed() {
    return facts.failed;
  }

  /** Returns the type of the error, never its message; null if not reported. */
  public @Nullable String errorType() {
    return facts.failed ? facts.errorType() : null;
  }

  /** Returns whether the response is complete: the end of the stream or document was received. */
  public boolean complete() {
    return facts.ended;
  }

  /**
   * Sets the known attributes on a span; sets none if the body was not observed.
   *
   * <p>An error within a stream fails the span, because the HTTP status does not show it. A body
   * that consists of an error does not; the caller fails the span by the HTTP status.
   *
   * @param arrivedNanos the request's arrival, from which the time to first token is measured
   */
  public void describe(OperationSpan span, long arrivedNanos) {
    if (!span.recording()) {
      return;
    }
    span.set(ResponseAttributes.ENCODING, encoding);
    if (!isReadable()) {
      return;
    }
    span.set(ResponseAttributes.COMPLETE, complete());
    span.set(GenAiAttributes.RESPONSE_MODEL, facts.model);
    List<String> reasons = finishReasons();
    if (!reasons.isEmpty()) {
      span.set(GenAiAttributes.RESPONSE_FINISH_REASONS, reasons);
    }
    describeUsage(span);
    if (events != null) {
      describeStream(span, arrivedNanos);
    }
  }

  private boolean isReadable() {
    // The first bytes of invalid gzip data may decode without an error.
    boolean decoded = hasFirstToken() || (decoder != null && decoder.isFinished());
    return (encoding == null || decoded) && !unreadable && (events != null || json != null);
  }

  /** Sets the known token counts of the response on a span. */
  public void describeUsage(OperationSpan span) {
    setKnown(span, GenAiAttributes.USAGE_PROMPT_TOKENS, promptTokens());
    setKnown(span, GenAiAttributes.USAGE_COMPLETION_TOKENS, generatedTokens());
    setKnown(span, GenAiAttributes.USAGE_CACHED_TOKENS, cachedTokens());
    setKnown(span, GenAiAttributes.USAGE_REASONING_TOKENS, reasoningTokens());
  }

  private static void setKnown(OperationSpan span, Attribute<Long> attribute, long count) {
    if (count >= 0) {
      span.set(attribute, count);
    }
  }

  private void describeStream(OperationSpan span, long arrivedNanos) {
    span.set(ResponseAttributes.TOKENS, tokens());
    if (hasFirstToken()) {
      long nanos = firstTokenNanos() - arrivedNanos;
      span.setMillis(ResponseAttributes.FIRST_TOKEN_MS, nanos);
      span.set(GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN, nanos / NANOS_PER_SECOND);
    }
    if (facts.gaps != null) {
      span.setMillis(ResponseAttributes.TOKEN_GAP_P50_MS, gapNanos(0.5));
      span.setMillis(ResponseAttributes.TOKEN_GAP_P99_MS, gapNanos(0.99));
      span.setMillis(ResponseAttributes.TOKEN_GAP_MAX_MS, maxGapNanos());
    }
    if (failed()) {
      String type = errorType();
      span.fail(type == null ? UNNAMED_ERROR : type, "The stream carries an error.");
    }
  }
}
