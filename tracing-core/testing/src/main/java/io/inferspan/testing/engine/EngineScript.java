package io.inferspan.testing.engine;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The behaviour of a {@link FakeEngine} for one inference request: the duration of each phase, the
 * output and an optional fault. Immutable; a script has at most one fault, and the last fault set
 * on a builder wins.
 *
 * <p>The phases are: the delay before the headers, the queue, prefill, and decode. A request's
 * limit ({@code max_tokens} or its equivalent) also limits the script's tokens.
 */
public final class EngineScript {
  private static final int DEFAULT_TOKENS = 5;
  private static final EngineScript NORMAL = new EngineScript();

  /** A word with the white space before it, or white space at the end of a text. */
  private static final Pattern WORD = Pattern.compile("\\s*\\S+|\\s+");

  /** The amount of usage data in a response. */
  public enum Usage {
    /** The usage block with {@code prompt_tokens_details.cached_tokens} or the API's equivalent. */
    FULL,
    /** The usage block without cached tokens. */
    WITHOUT_DETAILS,
    /** No usage block. */
    NONE
  }

  /** The kinds of faults. */
  enum FaultKind {
    NONE,
    STATUS,
    CUT_BEFORE_HEADERS,
    CUT,
    STALL,
    ERROR_EVENT,
    GARBAGE
  }

  /**
   * A fault and its time. {@code text} is a message if {@code contentType} is null, otherwise the
   * whole body.
   */
  record Fault(
      FaultKind kind, int afterTokens, int status, String text, @Nullable String contentType) {
    static final Fault NONE = after(FaultKind.NONE, 0, "");

    static Fault after(FaultKind kind, int tokens, String message) {
      if (tokens < 0) {
        throw new IllegalArgumentException("tokens must not be negative, was " + tokens);
      }
      return new Fault(kind, tokens, 500, message, null);
    }

    static Fault status(int status, String text, @Nullable String contentType) {
      if (status < 200 || status > 599) {
        throw new IllegalArgumentException("status must be 200 to 599, was " + status);
      }
      return new Fault(FaultKind.STATUS, 0, status, text, contentType);
    }
  }

  // Written only by a builder, and only before it returns the script.
  @Nullable String model;
  int tokens = DEFAULT_TOKENS;
  List<String> words = List.of();
  int cachedTokens;
  @Nullable String finishReason;
  Usage usage = Usage.FULL;
  @Nullable String kvTransferParams;
  Map<String, String> responseHeaders = Map.of();
  long headersNanos;
  long queueNanos;
  long prefillNanos;
  long prefillPerTokenNanos;
  long betweenTokensNanos;
  Fault fault = Fault.NONE;

  private EngineScript() {}

  private EngineScript(EngineScript other) {
    model = other.model;
    tokens = other.tokens;
    words = other.words;
    cachedTokens = other.cachedTokens;
    finishReason = other.finishReason;
    usage = other.usage;
    kvTransferParams = other.kvTransferParams;
    responseHeaders = other.responseHeaders;
    headersNanos = other.headersNanos;
    queueNanos = other.queueNanos;
    prefillNanos = other.prefillNanos;
    prefillPerTokenNanos = other.prefillPerTokenNanos;
    betweenTokensNanos = other.betweenTokensNanos;
    fault = other.fault;
  }

  /** Returns a script with five tokens, no delays and no faults. */
  public static EngineScript normal() {
    return NORMAL;
  }

  /** Returns a builder that starts from {@link #normal()}. */
  public static Builder builder() {
    return new Builder(NORMAL);
  }

  /** Returns a builder that starts from this script. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Returns the duration of a prompt's prefill; cached prompt tokens cost nothing. */
  long prefillNanos(int promptTokens) {
    return prefillNanos + prefillPerTokenNanos * Math.max(0, promptTokens - cachedTokens);
  }

  /** Builder for {@link EngineScript}. */
  public static final class Builder {
    private final EngineScript script;

    private Builder(EngineScript start) {
      script = new EngineScript(start);
    }

    /** Sets the model in responses; by default the model of the request. */
    public Builder model(String name) {
      script.model = name;
      return this;
    }

    /** Produces this many tokens: "tok0 tok1 tok2 ...". */
    public Builder tokens(int count) {
      script.tokens = notNegative("tokens", count);
      script.words = List.of();
      return this;
    }

    /** Produces this text, one token per word; a token includes the white space before its word. */
    public Builder content(String text) {
      script.words = WORD.matcher(text).results().map(MatchResult::group).toList();
      script.tokens = script.words.size();
      return this;
    }

    /** Sets the number of prompt tokens that are reported as cached. */
    public Builder cachedTokens(int count) {
      script.cachedTokens = notNegative("cachedTokens", count);
      return this;
    }

    /**
     * Sets the finish reason in OpenAI's terms, such as "stop" or "length"; by default it follows
     * from the request.
     */
    public Builder finishReason(String reason) {
      script.finishReason = reason;
      return this;
    }

    /** Sets the amount of usage data in the response. */
    public Builder usage(Usage amount) {
      script.usage = amount;
      return this;
    }

    /**
     * Sets the JSON of {@code kv_transfer_params} for all roles, in responses that are not streamed
     * and in the last event of the responses API.
     */
    public Builder kvTransferParams(String json) {
      script.kvTransferParams = json;
      return this;
    }

    /** Sets a header of all responses, including errors. */
    public Builder responseHeader(String name, String value) {
      Map<String, String> headers = new LinkedHashMap<>(script.responseHeaders);
      headers.put(name, value);
      script.responseHeaders = Collections.unmodifiableMap(headers);
      return this;
    }

    /** Delays the response, including its status line. */
    public Builder slowHeaders(Duration delay) {
      script.headersNanos = nanos("slowHeaders", delay);
      return this;
    }

    /** Sets the time in the queue. */
    public Builder queue(Duration time) {
      script.queueNanos = nanos("queue", time);
      return this;
    }

    /** Sets the fixed part of the prefill time. */
    public Builder prefill(Duration time) {
      script.prefillNanos = nanos("prefill", time);
      return this;
    }

    /** Sets the prefill time per prompt token that is not cached. */
    public Builder prefillPerToken(Duration time) {
      script.prefillPerTokenNanos = nanos("prefillPerToken", time);
      return this;
    }

    /**
     * Sets the time between two tokens. Timers have a resolution of a millisecond; below that,
     * several tokens are sent at once, so that the average is correct.
     */
    public Builder betweenTokens(Duration time) {
      script.betweenTokensNanos = nanos("betweenTokens", time);
      return this;
    }

    /** Responds with this status and an error body in the format of the requested API. */
    public Builder failWith(int status, String message) {
      script.fault = Fault.status(status, message, null);
      return this;
    }

    /** Responds with this status and this body. */
    public Builder failWithBody(int status, String contentType, String body) {
      script.fault = Fault.status(status, body, contentType);
      return this;
    }

    /** Closes the connection without a response. */
    public Builder cutBeforeHeaders() {
      script.fault = Fault.after(FaultKind.CUT_BEFORE_HEADERS, 0, "");
      return this;
    }

    /** Closes the connection after this many streamed tokens, or in the middle of a JSON body. */
    public Builder cutAfterTokens(int count) {
      script.fault = Fault.after(FaultKind.CUT, count, "");
      return this;
    }

    /**
     * Stops sending after this many tokens and keeps the connection open; a response that is not
     * streamed is never sent.
     */
    public Builder stallAfterTokens(int count) {
      script.fault = Fault.after(FaultKind.STALL, count, "");
      return this;
    }

    /**
     * Ends a stream with an error event after this many tokens; a response that is not streamed has
     * status 500.
     */
    public Builder errorEventAfterTokens(int count, String message) {
      script.fault = Fault.after(FaultKind.ERROR_EVENT, count, message);
      return this;
    }

    /**
     * Sends invalid bytes, neither UTF-8 nor an event, after this many tokens and then continues. A
     * JSON body is replaced by them.
     */
    public Builder garbageAfterTokens(int count) {
      script.fault = Fault.after(FaultKind.GARBAGE, count, "");
      return this;
    }

    /** Removes the fault. */
    public Builder noFault() {
      script.fault = Fault.NONE;
      return this;
    }

    /** Builds the script. */
    public EngineScript build() {
      return new EngineScript(script);
    }

    private static int notNegative(String what, int value) {
      if (value < 0) {
        throw new IllegalArgumentException(what + " must not be negative, was " + value);
      }
      return value;
    }

    private static long nanos(String what, Duration time) {
      if (time.isNegative()) {
        throw new IllegalArgumentException(what + " must not be negative, was " + time);
      }
      return time.toNanos();
    }
  }
}
