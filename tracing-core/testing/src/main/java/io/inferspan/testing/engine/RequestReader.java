package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.inferspan.testing.engine.EngineRequest.Role;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of a request body that affect an engine, for every API.
 *
 * <p>It counts prompt tokens in {@code messages}, {@code prompt}, {@code input}, {@code system},
 * {@code instructions} and {@code token_ids}. A token is a word of a text, or an integer in an
 * array. A text is a string, an array of strings, or an object with {@code content}, {@code text}
 * or {@code input}.
 */
final class RequestReader {
  private static final JsonFactory JSON = new JsonFactory();

  /** The parameters of an inference request. */
  record Call(
      @Nullable String model,
      boolean stream,
      boolean includeUsage,
      int promptTokens,
      Limits limits,
      Sampling sampling,
      Role role,
      @Nullable String kvTransferParams,
      @Nullable String rejection) {}

  /** The limits that a request sets; null if unset. */
  record Limits(@Nullable Integer maxTokens, double cacheHitThreshold) {}

  /** The sampling parameters; the default of each is 1. */
  record Sampling(double topP, double temperature, int n) {}

  private final byte[] body;
  private final JsonParser parser;
  private @Nullable String model;
  private boolean stream;
  private boolean streamOptions;
  private boolean includeUsage;
  private int promptTokens;
  private @Nullable Integer maxTokens;
  private @Nullable Integer maxCompletionTokens;
  private @Nullable Integer minTokens;
  private double cacheHitThreshold;
  private double topP = 1;
  private double temperature = 1;
  private int n = 1;
  private Role role = Role.WHOLE;
  private @Nullable String kvTransferParams;
  private @Nullable String rejection;

  private RequestReader(byte[] body) throws IOException {
    this.body = body;
    this.parser = JSON.createParser(body);
  }

  /** Reads a body; if vLLM would reject it, the result has a {@link Call#rejection()}. */
  static Call read(byte[] body) {
    try {
      RequestReader reader = new RequestReader(body);
      try (JsonParser parser = reader.parser) {
        reader.readBody(parser);
      }
      return reader.call();
    } catch (IOException e) {
      return rejected("invalid JSON: " + firstLine(e.getMessage()));
    }
  }

  private static Call rejected(String why) {
    Limits limits = new Limits(null, 0);
    return new Call(null, false, false, 0, limits, new Sampling(1, 1, 1), Role.WHOLE, null, why);
  }

  private static String firstLine(@Nullable String message) {
    return message == null ? "unreadable" : message.lines().findFirst().orElse("unreadable");
  }

  private Call call() {
    Integer max = maxCompletionTokens == null ? maxTokens : maxCompletionTokens;
    validate(max);
    return new Call(
        model,
        stream,
        includeUsage,
        promptTokens,
        new Limits(max, cacheHitThreshold),
        new Sampling(topP, temperature, n),
        role,
        kvTransferParams,
        rejection);
  }

  /** Checks what vLLM checks, to find bodies that a proxy has rewritten incorrectly. */
  private void validate(@Nullable Integer max) {
    if (max != null && max < 1) {
      rejection = "max_tokens must be at least 1, got " + max + ".";
    } else if (max != null && minTokens != null && minTokens > max) {
      rejection =
          "min_tokens must be less than or equal to max_tokens=" + max + ", got " + minTokens + ".";
    } else if (streamOptions && !stream) {
      rejection = "Stream options can only be defined when `stream=True`.";
    }
  }

  private void readBody(JsonParser p) throws IOException {
    if (p.nextToken() != JsonToken.START_OBJECT) {
      rejection = "invalid JSON: the body must be an object";
      return;
    }
    readFields();
    if (p.nextToken() != null) {
      rejection = "invalid JSON: data follows the object";
    }
  }

  private void readFields() throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      readField(name);
    }
  }

  private void readField(String name) throws IOException {
    switch (name) {
      case "model" -> model = text();
      case "stream" -> stream = parser.getValueAsBoolean();
      case "stream_options" -> readStreamOptions();
      case "sampling_params" -> readNested();
      case "max_tokens", "max_output_tokens" -> maxTokens = integer();
      case "max_completion_tokens" -> maxCompletionTokens = integer();
      case "min_tokens" -> minTokens = integer();
      case "cache_hit_threshold" -> cacheHitThreshold = number(0);
      case "top_p" -> topP = number(1);
      case "temperature" -> temperature = number(1);
      case "n" -> n = (int) number(1);
      case "kv_transfer_params" -> readKvTransferParams();
      case "messages", "prompt", "input", "system", "instructions", "token_ids" ->
          promptTokens += promptTokens();
      default -> parser.skipChildren();
    }
  }

  private void readNested() throws IOException {
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      readFields();
    } else {
      parser.skipChildren();
    }
  }

  private void readStreamOptions() throws IOException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      parser.skipChildren();
      return;
    }
    streamOptions = true;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean usage = parser.currentName().equals("include_usage");
      parser.nextToken();
      includeUsage |= usage && parser.getValueAsBoolean();
      parser.skipChildren();
    }
  }

  private void readKvTransferParams() throws IOException {
    int from = (int) parser.currentTokenLocation().getByteOffset();
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        readRole(name, parser.nextToken());
        parser.skipChildren();
      }
    } else {
      parser.skipChildren();
      // The parser reads strings lazily; this moves it to the end of the string.
      parser.getText();
    }
    int to = (int) parser.currentLocation().getByteOffset();
    kvTransferParams = new String(body, from, to - from, StandardCharsets.UTF_8);
  }

  private void readRole(String name, JsonToken value) {
    boolean set = value == JsonToken.VALUE_TRUE || value == JsonToken.START_OBJECT;
    if (!set) {
      return;
    }
    switch (name) {
      case "do_remote_decode", "remote_decoder" -> role = Role.PREFILL;
      case "do_remote_prefill", "remote_prefiller" -> role = Role.DECODE;
      default -> {}
    }
  }

  private @Nullable String text() throws IOException {
    parser.skipChildren();
    return parser.currentToken() == JsonToken.VALUE_STRING ? parser.getText() : null;
  }

  private @Nullable Integer integer() throws IOException {
    parser.skipChildren();
    return parser.currentToken().isNumeric() ? parser.getValueAsInt() : null;
  }

  private double number(double otherwise) throws IOException {
    parser.skipChildren();
    return parser.currentToken().isNumeric() ? parser.getDoubleValue() : otherwise;
  }

  /** Counts the current value; the parser's limit on nesting bounds the recursion. */
  private int promptTokens() throws IOException {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> words();
      case VALUE_NUMBER_INT -> 1;
      case START_ARRAY -> promptTokensOfArray();
      case START_OBJECT -> promptTokensOfObject();
      default -> 0;
    };
  }

  private int promptTokensOfArray() throws IOException {
    int sum = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      sum += promptTokens();
    }
    return sum;
  }

  private int promptTokensOfObject() throws IOException {
    int sum = 0;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      if (name.equals("content") || name.equals("text") || name.equals("input")) {
        sum += promptTokens();
      } else {
        parser.skipChildren();
      }
    }
    return sum;
  }

  private int words() throws IOException {
    char[] chars = parser.getTextCharacters();
    int from = parser.getTextOffset();
    int to = from + parser.getTextLength();
    int words = 0;
    boolean inside = false;
    for (int i = from; i < to; i++) {
      boolean blank = Character.isWhitespace(chars[i]);
      words += !blank && !inside ? 1 : 0;
      inside = !blank;
    }
    return words;
  }
}
