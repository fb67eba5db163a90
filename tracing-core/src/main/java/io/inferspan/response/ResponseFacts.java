package io.inferspan.response;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a response has told so far. */
final class ResponseFacts {

  /** Completions whose finish reason is kept. */
  static final int MAX_COMPLETIONS = 16;

  private final boolean stream;
  private final @Nullable String[] finishReasons = new @Nullable String[MAX_COMPLETIONS];

  /** Whether more was told than that there is a token, since somebody has set this to false. */
  boolean toldMore;

  private boolean contentInEvent;
  private long contentNanos;
  private int choice;
  private @Nullable String choiceReason;

  long tokens;
  long firstTokenNanos;
  long lastTokenNanos;
  @Nullable TokenGaps gaps;

  long promptTokens = -1;
  long completionTokens = -1;
  long reasoningTokens = -1;
  private long cachedTokens = -1;
  private long cacheReadTokens = -1;
  private long cacheWrittenTokens = -1;

  String model = "";
  boolean failed;
  boolean ended;
  private @Nullable String errorType;
  private @Nullable String errorCode;

  ResponseFacts(boolean stream) {
    this.stream = stream;
  }

  /** A new event begins; what an unfinished one told of content is forgotten. */
  void eventBegins() {
    contentInEvent = false;
    choiceBegins(0);
  }

  private void choiceBegins(int index) {
    choice = index;
    choiceReason = null;
  }

  /** Something stands at a place that only says whether it does. */
  void present(int place, long nowNanos) {
    if (place == Place.ERROR) {
      toldMore = true;
      failed = true;
    } else if (!contentInEvent) {
      contentInEvent = true;
      contentNanos = nowNanos;
    }
  }

  void ends(int place) {
    if (place == Place.CHOICE) {
      if (choiceReason != null) {
        finishReasons[choice] = choiceReason;
      }
      choiceBegins(0);
    } else if (place == Place.ROOT) {
      eventEnds();
    }
  }

  private void eventEnds() {
    ended |= !stream;
    if (contentInEvent && stream) {
      token(contentNanos);
    }
    contentInEvent = false;
  }

  /** An event that tells of a token and nothing more. */
  void token(long nanos) {
    if (tokens++ == 0) {
      firstTokenNanos = nanos;
    } else {
      if (gaps == null) {
        gaps = new TokenGaps();
      }
      gaps.add(nanos - lastTokenNanos);
    }
    lastTokenNanos = nanos;
  }

  /** A word of a closed set, such as the type of an event. */
  void word(int meaning) {
    toldMore |= meaning != Place.NOTHING;
    ended |= meaning == Place.END;
    failed |= meaning == Place.FAILURE;
  }

  void count(int place, long count, long nowNanos) {
    toldMore |= place != Place.TOKEN_ID && place != Place.INDEX;
    switch (place) {
      case Place.TOKEN_ID -> present(place, nowNanos);
      case Place.INDEX -> choice = (int) Math.min(count, MAX_COMPLETIONS - 1);
      case Place.PROMPT -> promptTokens = count;
      case Place.COMPLETION -> completionTokens = count;
      case Place.CACHED -> cachedTokens = count;
      case Place.CACHE_READ -> cacheReadTokens = count;
      case Place.CACHE_WRITTEN -> cacheWrittenTokens = count;
      case Place.REASONING -> reasoningTokens = count;
      case Place.ERROR_CODE -> errorCode = Long.toString(count);
      default -> {}
    }
  }

  void text(int place, ShortText text) {
    toldMore = true;
    switch (place) {
      case Place.MODEL -> model = text.text(model);
      case Place.STATUS -> status(text);
      case Place.CHOICE_REASON -> choiceReason = text.word(finishReasons[choice]);
      case Place.REASON -> finishReasons[0] = text.word(finishReasons[0]);
      case Place.ERROR_TYPE -> errorType = text.word(errorType);
      case Place.ERROR_CODE -> errorCode = text.word(errorCode);
      default -> {}
    }
  }

  /** A response that ended says why in its status, or says there that it was cut. */
  private void status(ShortText text) {
    failed |= text.is("failed");
    if (text.is("completed") || text.is("failed") || text.is("cancelled")) {
      finishReasons[0] = text.word(finishReasons[0]);
    }
  }

  long promptTokens() {
    // Anthropic's count leaves out what the cache had and what it took; everybody else's does not.
    return promptTokens < 0
        ? -1
        : promptTokens + Math.max(0, cacheReadTokens) + Math.max(0, cacheWrittenTokens);
  }

  long cachedTokens() {
    return cachedTokens >= 0 ? cachedTokens : cacheReadTokens;
  }

  @Nullable String errorType() {
    return errorType != null ? errorType : errorCode;
  }

  List<String> finishReasons() {
    List<String> known = new ArrayList<>();
    for (String reason : finishReasons) {
      if (reason != null) {
        known.add(reason);
      }
    }
    return Collections.unmodifiableList(known);
  }
}
