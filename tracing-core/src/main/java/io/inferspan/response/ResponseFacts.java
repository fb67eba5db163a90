package io.inferspan.response;

import io.inferspan.json.JsonPath;
import io.inferspan.json.JsonSink;
import io.inferspan.json.ShortText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects the usage, tokens, errors and end of a response. */
final class ResponseFacts implements JsonSink {

  /** The maximum number of choices whose finish reason is stored. */
  static final int MAX_CHOICES = 16;

  private static final long DONE = 'D' << 24 | 'O' << 16 | 'N' << 8 | 'E';

  private final boolean stream;
  private final @Nullable String[] finishReasons = new @Nullable String[MAX_CHOICES];

  /** Set if the current event contains data other than a token. */
  boolean otherData;

  private boolean contentInEvent;
  private boolean contentInChoice;

  /** One bit for each choice with content in the current event. */
  private int choicesInEvent;

  /** One bit for each choice that the last token belonged to. */
  int lastChoices;

  /** One bit for each choice that has had content. */
  private int choices;

  private long @Nullable [] lastNanosByChoice;

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

  /** Starts a new event; drops the content of an incomplete event. */
  @Override
  public void begins() {
    contentInEvent = false;
    choicesInEvent = 0;
    choiceBegins(0);
  }

  private void choiceBegins(int index) {
    choice = index;
    choiceReason = null;
    contentInChoice = false;
  }

  @Override
  public void enters(int place, long nowNanos) {
    if (place == Place.ERROR) {
      present(place, nowNanos);
    }
  }

  /** Records that an error or content is present. */
  @Override
  public void present(int place, long nowNanos) {
    if (place == Place.ERROR) {
      otherData = true;
      failed = true;
    } else {
      contentInChoice = true;
      contentNanos = contentInEvent ? contentNanos : nowNanos;
      contentInEvent = true;
    }
  }

  @Override
  public void leaves(int place) {
    if (place == Place.CHOICE) {
      if (choiceReason != null) {
        finishReasons[choice] = choiceReason;
      }
      choicesInEvent |= contentInChoice ? 1 << choice : 0;
      choiceBegins(0);
    } else if (place == Place.ROOT) {
      eventEnds();
    }
  }

  private void eventEnds() {
    ended |= !stream;
    if (contentInEvent && stream) {
      token(contentNanos, choicesInEvent);
    }
    contentInEvent = false;
  }

  /**
   * Counts an event with content of the choices whose bits are set in {@code mask}; 0 means the
   * first choice.
   */
  void token(long nanos, int mask) {
    if (tokens++ == 0) {
      firstTokenNanos = nanos;
    }
    lastTokenNanos = nanos;
    lastChoices = mask == 0 ? 1 : mask;
    int left = lastChoices;
    while (left != 0) {
      int index = Integer.numberOfTrailingZeros(left);
      left &= left - 1;
      gap(index, nanos);
    }
  }

  /**
   * Records a token gap. The choices of a response are generated concurrently, so each has its own
   * gaps.
   */
  private void gap(int index, long nanos) {
    long[] last = lastNanosByChoice;
    if (last == null) {
      last = new long[MAX_CHOICES];
      lastNanosByChoice = last;
    }
    // The last slot is shared by all further choices, which cannot be distinguished.
    if ((choices & 1 << index) != 0 && index < MAX_CHOICES - 1) {
      if (gaps == null) {
        gaps = new TokenGaps();
      }
      gaps.add(nanos - last[index]);
    }
    choices |= 1 << index;
    last[index] = nanos;
  }

  /** Returns how many choices have had content. */
  int choices() {
    return Integer.bitCount(choices);
  }

  @Override
  public void word(int place, int meaning, JsonPath path) {
    word(meaning);
    if (place == Place.KIND && meaning == Place.FAILURE) {
      // The object is itself an error, so its type is the error's type.
      path.move(Place.TYPE, Place.ERROR_TYPE);
    }
  }

  @Override
  public void mark(int place, long letters) {
    if (letters == DONE) {
      word(Place.END);
    }
  }

  @Override
  public boolean wants(int place) {
    return place != Place.MODEL || model.isEmpty();
  }

  /** Handles a word of a closed set, such as the type of an event. */
  void word(int meaning) {
    otherData |= meaning != Place.NOTHING;
    ended |= meaning == Place.END;
    failed |= meaning == Place.FAILURE;
  }

  @Override
  public void count(int place, long count, long nowNanos) {
    otherData |= place != Place.TOKEN_ID && place != Place.INDEX;
    switch (place) {
      case Place.TOKEN_ID -> present(place, nowNanos);
      case Place.INDEX -> choice = (int) Math.min(count, MAX_CHOICES - 1);
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

  @Override
  public void text(int place, ShortText text) {
    otherData = true;
    switch (place) {
      case Place.MODEL -> model = text.text(model);
      case Place.STATUS -> status(text);
      case Place.CHOICE_REASON ->
          choiceReason = text.word(KnownWords::finishReason, finishReasons[choice]);
      case Place.REASON -> finishReasons[0] = text.word(KnownWords::finishReason, finishReasons[0]);
      case Place.ERROR_TYPE -> errorType = text.word(KnownWords::errorType, errorType);
      case Place.ERROR_CODE -> errorCode = text.word(KnownWords::errorType, errorCode);
      default -> {}
    }
  }

  /** Handles the status of a response, such as completed or failed. */
  private void status(ShortText text) {
    failed |= text.is("failed");
    if (text.is("completed") || text.is("failed") || text.is("cancelled")) {
      finishReasons[0] = text.word(KnownWords::finishReason, finishReasons[0]);
    }
  }

  long generatedTokens() {
    return completionTokens < 0 && stream && !ended && tokens > 0 ? tokens : completionTokens;
  }

  long promptTokens() {
    // Anthropic's count excludes tokens read from and written to the cache; other APIs include
    // them.
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
