package io.inferspan.response;

import io.inferspan.json.JsonCursor;
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

  /** Set if the current event reports {@link #completionTokens}, before or after its content. */
  private boolean usageInEvent;

  private boolean contentInChoice;

  /** One bit for each choice with content in the current event. */
  private int choicesInEvent;

  /** One bit for each choice in the event that was last counted as a token. */
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

  /** The number of tokens when the engine reported {@link #completionTokens}. */
  private long tokensAtUsage;

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
    usageInEvent = false;
    choicesInEvent = 0;
    choiceBegins(0);
  }

  private void choiceBegins(int index) {
    choice = index;
    choiceReason = null;
    contentInChoice = false;
  }

  @Override
  public void enters(int node, long nowNanos) {
    if (node == Node.ERROR) {
      present(node, nowNanos);
    }
  }

  /** Records that an error or content is present. */
  @Override
  public void present(int node, long nowNanos) {
    if (node == Node.ERROR) {
      otherData = true;
      failed = true;
    } else {
      contentInChoice = true;
      contentNanos = contentInEvent ? contentNanos : nowNanos;
      contentInEvent = true;
    }
  }

  @Override
  public void leaves(int node) {
    if (node == Node.CHOICE) {
      if (choiceReason != null) {
        finishReasons[choice] = choiceReason;
      }
      choicesInEvent |= contentInChoice ? 1 << choice : 0;
      choiceBegins(0);
    } else if (node == Node.ROOT) {
      eventEnds();
    }
  }

  private void eventEnds() {
    ended |= !stream;
    if (contentInEvent && stream) {
      token(contentNanos, choicesInEvent);
    }
    if (usageInEvent) {
      tokensAtUsage = tokens;
    }
    contentInEvent = false;
    usageInEvent = false;
  }

  /**
   * Counts an event with content of the choices in {@code mask}, one bit each; 0 stands for the
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
  public void keyword(int node, int meaning, JsonCursor cursor) {
    keyword(meaning);
    if (node == Node.KIND && meaning == Node.FAILURE) {
      // The object is itself an error, so its type is the error's type.
      cursor.redirect(Node.TYPE, Node.ERROR_TYPE);
    }
  }

  @Override
  public void literal(int node, long letters) {
    if (letters == DONE) {
      keyword(Node.END);
    }
  }

  @Override
  public boolean wants(int node) {
    return node != Node.MODEL || model.isEmpty();
  }

  /** Handles the meaning of a keyword, such as the type of an event. */
  void keyword(int meaning) {
    otherData |= meaning != Node.NOTHING;
    ended |= meaning == Node.END;
    failed |= meaning == Node.FAILURE;
  }

  @Override
  public void count(int node, long count, long nowNanos) {
    otherData |= node != Node.TOKEN_ID && node != Node.INDEX;
    switch (node) {
      case Node.TOKEN_ID -> present(node, nowNanos);
      case Node.INDEX -> choice = (int) Math.min(count, MAX_CHOICES - 1);
      case Node.PROMPT -> promptTokens = count;
      case Node.COMPLETION -> {
        completionTokens = count;
        tokensAtUsage = tokens;
        usageInEvent = true;
      }
      case Node.CACHED -> cachedTokens = count;
      case Node.CACHE_READ -> cacheReadTokens = count;
      case Node.CACHE_WRITTEN -> cacheWrittenTokens = count;
      case Node.REASONING -> reasoningTokens = count;
      case Node.ERROR_CODE -> errorCode = Long.toString(count);
      default -> {}
    }
  }

  @Override
  public void text(int node, ShortText text) {
    otherData = true;
    switch (node) {
      case Node.MODEL -> model = text.text(model);
      case Node.STATUS -> status(text);
      case Node.CHOICE_REASON ->
          choiceReason = text.mapped(KnownWords::finishReason, finishReasons[choice]);
      case Node.REASON ->
          finishReasons[0] = text.mapped(KnownWords::finishReason, finishReasons[0]);
      case Node.ERROR_TYPE -> errorType = text.mapped(KnownWords::errorType, errorType);
      case Node.ERROR_CODE -> errorCode = text.mapped(KnownWords::errorType, errorCode);
      default -> {}
    }
  }

  /** Handles the status of a response, such as completed or failed. */
  private void status(ShortText text) {
    failed |= text.is("failed");
    if (text.is("completed") || text.is("failed") || text.is("cancelled")) {
      finishReasons[0] = text.mapped(KnownWords::finishReason, finishReasons[0]);
    }
  }

  long generatedTokens() {
    // Anthropic's API reports a count with the start of a message, too.
    boolean outdated = stream && !ended && tokens > tokensAtUsage;
    return outdated ? Math.max(completionTokens, tokens) : completionTokens;
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
