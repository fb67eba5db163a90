package io.inferspan.response;

import io.inferspan.OperationSpan;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.ResponseAttributes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Watches an engine's response pass, as JSON or as server-sent events, and knows when its tokens
 * came, what they cost and how it ended.
 *
 * <p>It reads OpenAI's chat completions, completions and responses and Anthropic's messages. The
 * bytes stay where they are, in pieces of any size; no piece is kept but what the events of a
 * stream have in common, and what is kept has a bound: {@link #MAX_HELD_BYTES}. No method throws.
 * One response, one tap; it is not for several threads at once.
 *
 * <p>A token here is an event of the stream that carries content: text, reasoning, or a part of a
 * tool call. The chunk that only names the role is none, and neither is a comment. All times are
 * those that the caller gives, on one monotonic clock.
 */
public final class ResponseTap {

  /** What a tap may hold, whatever passes: the gaps, a few words and the frame of an event. */
  public static final int MAX_HELD_BYTES = 8 * 1024;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final String UNNAMED_ERROR = "stream_error";

  private final ResponseFacts facts;
  private final @Nullable EventStream events;
  private final @Nullable JsonScanner json;
  private boolean seeing;
  private long endNanos;

  private ResponseTap(String mediaType) {
    boolean stream = mediaType.equals("text/event-stream");
    boolean document =
        mediaType.equals("application/json") || mediaType.equals("application/problem+json");
    facts = new ResponseFacts(stream);
    events = stream ? new EventStream(facts) : null;
    json = document ? new JsonScanner(facts) : null;
    seeing = stream || document;
  }

  /** A tap for a body of this {@code Content-Type}; one that sees nothing for any other kind. */
  public static ResponseTap forContentType(@Nullable CharSequence contentType) {
    String type = contentType == null ? "" : contentType.toString();
    int parameters = type.indexOf(';');
    String mediaType = parameters < 0 ? type : type.substring(0, parameters);
    return new ResponseTap(mediaType.strip().toLowerCase(Locale.ROOT));
  }

  /** A tap for a body as its headers describe it; it sees nothing of an encoded body. */
  public static ResponseTap forHeaders(
      @Nullable CharSequence contentType, @Nullable CharSequence contentEncoding) {
    boolean plain =
        contentEncoding == null
            || contentEncoding.toString().isBlank()
            || contentEncoding.toString().strip().equalsIgnoreCase("identity");
    return plain ? forContentType(contentType) : blind();
  }

  /** A tap that sees nothing. */
  public static ResponseTap blind() {
    return new ResponseTap("");
  }

  /** Looks at the bytes between position and limit and leaves the buffer as it is. */
  public void see(ByteBuffer bytes, long nowNanos) {
    if (!seeing) {
      return;
    }
    try {
      if (events != null) {
        events.see(bytes, nowNanos);
      } else if (json != null) {
        seeJson(json, bytes, nowNanos);
      }
    } catch (RuntimeException unreadable) {
      // Such as memory that was closed meanwhile: whoever owns it will find out.
      seeing = false;
    }
  }

  private static void seeJson(JsonScanner json, ByteBuffer bytes, long nowNanos) {
    int end = bytes.limit();
    int at = bytes.position();
    while (at < end) {
      at = json.scan(bytes, at, end, nowNanos) + 1;
    }
  }

  /** The body has ended; what comes later is not seen. */
  public void end(long nowNanos) {
    if (seeing) {
      endNanos = nowNanos;
    }
    seeing = false;
  }

  /** Whether this body is one that is looked at, and has not ended. */
  public boolean isSeeing() {
    return seeing;
  }

  /** Whether a token has come; never in a body that is no stream. */
  public boolean hasFirstToken() {
    return facts.tokens > 0;
  }

  /** When the first token came; zero where none did. */
  public long firstTokenNanos() {
    return facts.firstTokenNanos;
  }

  /** When the last token came; zero where none did. */
  public long lastTokenNanos() {
    return facts.lastTokenNanos;
  }

  /** When the body ended; zero where it did not, or was not looked at. */
  public long endNanos() {
    return endNanos;
  }

  /** How many events carried content. */
  public long tokens() {
    return facts.tokens;
  }

  /** The gap that a share of all gaps does not exceed, to 5 %; -1 where there was none. */
  public long gapNanos(double quantile) {
    TokenGaps gaps = facts.gaps;
    return gaps == null ? -1 : gaps.nanos(quantile);
  }

  /** The longest gap; -1 where there was none. */
  public long maxGapNanos() {
    TokenGaps gaps = facts.gaps;
    return gaps == null ? -1 : gaps.maxNanos();
  }

  /** Tokens of the prompt, those from a cache included; -1 where the response does not tell. */
  public long promptTokens() {
    return facts.promptTokens();
  }

  /** Tokens generated; -1 where the response does not tell. */
  public long completionTokens() {
    return facts.completionTokens;
  }

  /** Tokens of the prompt that a cache had; -1 where the response does not tell. */
  public long cachedTokens() {
    return facts.cachedTokens();
  }

  /** Generated tokens that were spent on reasoning; -1 where the response does not tell. */
  public long reasoningTokens() {
    return facts.reasoningTokens;
  }

  /** Why generation ended, one per completion in their order, of at most sixteen. */
  public List<String> finishReasons() {
    return facts.finishReasons();
  }

  /** The model that answered, cut at 128 bytes; null where the response does not tell. */
  public @Nullable String model() {
    return facts.model.isEmpty() ? null : facts.model;
  }

  /** Whether the response carries an error, in the middle of its stream or as its whole. */
  public boolean failed() {
    return facts.failed;
  }

  /** What kind of error it carries: one word, never a message; null where it does not tell. */
  public @Nullable String errorType() {
    return facts.failed ? facts.errorType() : null;
  }

  /** Whether the response came to its proper end: its end mark, or the end of its document. */
  public boolean complete() {
    return facts.ended;
  }

  /**
   * Sets on a span what is known; nothing where the body was not looked at.
   *
   * <p>An error within a stream fails the span, since the status that was sent before says nothing
   * of it. An error that is the whole body is left to the status.
   */
  public void describe(OperationSpan span, long arrivedNanos) {
    if (!span.recording() || (events == null && json == null)) {
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

  private void describeUsage(OperationSpan span) {
    setTold(span, GenAiAttributes.USAGE_PROMPT_TOKENS, promptTokens());
    setTold(span, GenAiAttributes.USAGE_COMPLETION_TOKENS, completionTokens());
    setTold(span, GenAiAttributes.USAGE_CACHED_TOKENS, cachedTokens());
    setTold(span, GenAiAttributes.USAGE_REASONING_TOKENS, reasoningTokens());
  }

  private static void setTold(OperationSpan span, Attribute<Long> attribute, long count) {
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
