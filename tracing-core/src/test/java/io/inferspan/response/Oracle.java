package io.inferspan.response;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads one event with an independent parser, and interprets values by their full path. */
final class Oracle {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String USAGE = "(/response|/message)?/usage/";
  private static final Pattern CONTENT =
      Pattern.compile(
          "/choices/-/text|/delta|/delta/(text|thinking|partial_json)"
              + "|/choices/-/delta/(content|reasoning_content|reasoning|refusal)"
              + "|/choices/-/delta/content/-/(text|thinking/-/text)"
              + "|/choices/-/delta/(function_call|tool_calls/-/function)/(name|arguments)");

  private final TreeMap<Integer, String> reasons = new TreeMap<>();
  private boolean content;
  private String model = "";
  private long prompt = -1;
  private long completion = -1;
  private long cached = -1;
  private long cacheRead = -1;
  private long cacheWritten = -1;
  private long reasoning = -1;
  private int index;
  private @Nullable String reason;

  /** The compared values. */
  record Values(List<Long> numbers, List<String> reasons, @Nullable String model) {

    static Values of(ResponseTap tap) {
      return new Values(
          List.of(
              tap.tokens(),
              tap.promptTokens(),
              tap.completionTokens(),
              tap.cachedTokens(),
              tap.reasoningTokens()),
          tap.finishReasons(),
          tap.model());
    }
  }

  static Values read(String document) throws IOException {
    Oracle oracle = new Oracle();
    try (JsonParser parser = JSON.createParser(document)) {
      for (JsonToken next = parser.nextToken(); next != null; next = parser.nextToken()) {
        String path = parser.getParsingContext().pathAsPointer().toString();
        oracle.see(next, path.replaceAll("/[0-9]+(?=/|$)", "/-"), parser);
      }
    }
    return oracle.values();
  }

  private void see(JsonToken token, String path, JsonParser parser) throws IOException {
    switch (token) {
      case VALUE_STRING -> text(path, parser.getText());
      case VALUE_NUMBER_INT -> count(path, parser.getIntValue());
      case START_OBJECT -> forgetChoice(path);
      case END_OBJECT -> choiceEnds(path);
      default -> {}
    }
  }

  private void text(String path, String text) {
    content |= !text.isEmpty() && CONTENT.matcher(path).matches();
    if (path.matches("(/response|/message)?/model") && model.isEmpty()) {
      model = text;
    } else if (path.equals("/choices/-/finish_reason")) {
      reason = text;
    }
  }

  private void count(String path, int count) {
    if (path.equals("/choices/-/token_ids/-")) {
      content = true;
    } else if (path.equals("/choices/-/index")) {
      index = count;
    } else if (path.matches(USAGE + "(prompt|input)_tokens")) {
      prompt = count;
    } else if (path.matches(USAGE + "(completion|output)_tokens")) {
      completion = count;
    } else if (path.matches(
        USAGE + "(prompt|completion|input|output)_tokens_details/cached_tokens")) {
      cached = count;
    } else if (path.matches(USAGE + "cache_read_input_tokens")) {
      cacheRead = count;
    } else if (path.matches(USAGE + "cache_creation_input_tokens")) {
      cacheWritten = count;
    } else if (path.matches(
        USAGE + "((prompt|completion|input|output)_tokens_details/)?reasoning_tokens")) {
      reasoning = count;
    }
  }

  private void forgetChoice(String path) {
    if (path.equals("/choices/-")) {
      index = 0;
      reason = null;
    }
  }

  private void choiceEnds(String path) {
    if (path.equals("/choices/-") && reason != null) {
      reasons.put(index, reason);
    }
  }

  private Values values() {
    long allPrompt = prompt < 0 ? -1 : prompt + Math.max(0, cacheRead) + Math.max(0, cacheWritten);
    return new Values(
        List.of(
            content ? 1L : 0L, allPrompt, completion, cached < 0 ? cacheRead : cached, reasoning),
        List.copyOf(reasons.values()),
        model.isEmpty() ? null : model);
  }
}
