package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.inferspan.testing.engine.EngineRequest.Role;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;
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
  private static final List<String> PROMPTS =
      List.of("messages", "prompt", "input", "system", "instructions", "token_ids");
  private static final List<String> TEXTS = List.of("content", "text", "input");

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

  /** The limits that a request sets; if unset, {@code maxTokens} is null and the threshold is 0. */
  record Limits(@Nullable Integer maxTokens, double cacheHitThreshold) {}

  /** The sampling parameters; the default of each is 1. */
  record Sampling(double topP, double temperature, int n) {}

  private final Map<String, Object> fields;

  private RequestReader(Map<String, Object> body) {
    this.fields = new HashMap<>(body);
    fields.putAll(object(body.get("sampling_params")));
  }

  /** Reads a body; if vLLM would reject it, the result has a {@link Call#rejection()}. */
  static Call read(byte[] body) {
    try {
      RequestReader reader = new RequestReader(new JsonObject(Buffer.buffer(body)).getMap());
      return reader.call(verbatim(body, "kv_transfer_params"));
    } catch (DecodeException | IOException e) {
      String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("unreadable");
      return new Call(
          null,
          false,
          false,
          0,
          new Limits(null, 0),
          new Sampling(1, 1, 1),
          Role.WHOLE,
          null,
          "invalid JSON: " + why);
    }
  }

  private Call call(@Nullable String kvTransferParams) {
    Integer max = integer("max_completion_tokens");
    max = max == null ? integer("max_tokens") : max;
    max = max == null ? integer("max_output_tokens") : max;
    boolean stream = Boolean.TRUE.equals(fields.get("stream"));
    return new Call(
        fields.get("model") instanceof String model ? model : null,
        stream,
        Boolean.TRUE.equals(object(fields.get("stream_options")).get("include_usage")),
        PROMPTS.stream().mapToInt(name -> promptTokens(fields.get(name))).sum(),
        new Limits(max, number("cache_hit_threshold", 0)),
        new Sampling(number("top_p", 1), number("temperature", 1), (int) number("n", 1)),
        role(),
        kvTransferParams,
        rejection(max, stream));
  }

  /** Checks what vLLM checks, to find bodies that a proxy has rewritten incorrectly. */
  private @Nullable String rejection(@Nullable Integer max, boolean stream) {
    Integer min = integer("min_tokens");
    if (max != null && max < 1) {
      return "max_tokens must be at least 1, got " + max + ".";
    }
    if (max != null && min != null && min > max) {
      return "min_tokens must be less than or equal to max_tokens=" + max + ", got " + min + ".";
    }
    return fields.get("stream_options") instanceof Map && !stream
        ? "Stream options can only be defined when `stream=True`."
        : null;
  }

  private Role role() {
    Role role = Role.WHOLE;
    for (Map.Entry<String, Object> param : object(fields.get("kv_transfer_params")).entrySet()) {
      if (param.getValue() instanceof Map || Boolean.TRUE.equals(param.getValue())) {
        role =
            switch (param.getKey()) {
              case "do_remote_decode", "remote_decoder" -> Role.PREFILL;
              case "do_remote_prefill", "remote_prefiller" -> Role.DECODE;
              default -> role;
            };
      }
    }
    return role;
  }

  @SuppressWarnings("unchecked") // the keys of a JSON object are strings
  private static Map<String, Object> object(@Nullable Object value) {
    return value instanceof Map<?, ?> object ? (Map<String, Object>) object : Map.of();
  }

  private @Nullable Integer integer(String name) {
    return fields.get(name) instanceof Number number ? number.intValue() : null;
  }

  private double number(String name, double otherwise) {
    return fields.get(name) instanceof Number number ? number.doubleValue() : otherwise;
  }

  /** Counts the tokens of a value; the parser's limit on nesting bounds the recursion. */
  private static int promptTokens(@Nullable Object value) {
    if (value instanceof String text) {
      return new StringTokenizer(text).countTokens();
    }
    if (value instanceof List<?> list) {
      return list.stream().mapToInt(RequestReader::promptTokens).sum();
    }
    if (value instanceof Map<?, ?> object) {
      return TEXTS.stream().mapToInt(name -> promptTokens(object.get(name))).sum();
    }
    return value instanceof Integer || value instanceof Long ? 1 : 0;
  }

  /** Returns the value of a member of the body exactly as sent; null if there is none. */
  private static @Nullable String verbatim(byte[] body, String name) throws IOException {
    try (JsonParser parser = JSON.createParser(body)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean found = parser.currentName().equals(name);
        parser.nextToken();
        int from = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        if (found) {
          // The parser reads strings lazily; this moves it to the end of the string.
          parser.getText();
          int to = (int) parser.currentLocation().getByteOffset();
          return new String(body, from, to - from, StandardCharsets.UTF_8);
        }
      }
      return null;
    }
  }
}
