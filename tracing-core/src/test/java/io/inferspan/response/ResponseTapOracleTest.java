package io.inferspan.response;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random documents, some with known keys in wrong places, read as by an independent parser. */
class ResponseTapOracleTest {

  private static final int DOCUMENTS = 20_000;
  private static final long SEED = 20_260_102;
  private static final int DEEPEST = 7;

  private static final Map<String, List<String>> KEYS =
      Map.ofEntries(
          Map.entry("", List.of("choices", "usage", "model", "delta", "response", "message", "id")),
          Map.entry("choices", List.of("index", "delta", "text", "finish_reason", "token_ids")),
          Map.entry(
              "delta",
              List.of("content", "reasoning", "refusal", "tool_calls", "function_call", "text")),
          Map.entry("content", List.of("type", "text", "thinking")),
          Map.entry("thinking", List.of("type", "text", "thinking")),
          Map.entry("tool_calls", List.of("index", "id", "function")),
          Map.entry("function", List.of("name", "arguments")),
          Map.entry("function_call", List.of("name", "arguments")),
          Map.entry("response", List.of("usage", "model", "id")),
          Map.entry("message", List.of("usage", "model", "content")),
          Map.entry(
              "usage",
              List.of(
                  "prompt_tokens",
                  "output_tokens",
                  "cache_read_input_tokens",
                  "cache_creation_input_tokens",
                  "reasoning_tokens",
                  "prompt_tokens_details")),
          Map.entry("prompt_tokens_details", List.of("cached_tokens", "reasoning_tokens")));

  private static final List<String> LISTS =
      List.of("choices", "tool_calls", "token_ids", "content", "thinking");
  private static final List<String> TEXTS =
      List.of(
          "",
          "word",
          "it\\\"s",
          "\\\"usage\\\":{",
          "}]}",
          "\\\\",
          "gr\\u00fc\\u00df \\n",
          "世界 ,",
          "[{");

  private final Random random = new Random(SEED);

  @Test
  void documents_areReadAsByAParser() throws IOException {
    for (int i = 0; i < DOCUMENTS; i++) {
      String document = object("", 0);
      ResponseTap tap = Seen.whole(Bodies.SSE, Bodies.data(document));

      assertThat(Oracle.Values.of(tap)).as(document).isEqualTo(Oracle.read(document));
    }
  }

  private String object(String name, int depth) {
    StringBuilder json = new StringBuilder("{");
    List<String> keys = KEYS.getOrDefault(name, List.of("usage", "content", "x"));
    for (String key : keys) {
      if (random.nextInt(3) > 0) {
        json.append(json.length() > 1 ? "," : "").append(space());
        String other = random.nextInt(8) == 0 ? "x" + key : key;
        json.append('"').append(other).append("\":").append(space()).append(value(key, depth + 1));
      }
    }
    return json.append(space()).append('}').toString();
  }

  private String value(String name, int depth) {
    boolean right = depth < DEEPEST && random.nextInt(4) > 0;
    if (right && LISTS.contains(name)) {
      return list(name, depth);
    }
    if (right && KEYS.containsKey(name)) {
      return object(name, depth);
    }
    return switch (random.nextInt(depth < DEEPEST ? 8 : 6)) {
      case 0, 1 -> '"' + word(name) + '"';
      case 2, 3 -> Integer.toString(random.nextInt(3));
      case 4 -> "null";
      case 5 -> random.nextBoolean() ? "1.5" : "true";
      case 6 -> list(name, depth);
      default -> object(name, depth);
    };
  }

  private String list(String name, int depth) {
    StringBuilder json = new StringBuilder("[");
    for (int i = random.nextInt(3); i > 0; i--) {
      json.append(space()).append(KEYS.containsKey(name) ? object(name, depth) : value("x", depth));
      json.append(i > 1 ? "," : "");
    }
    return json.append(']').toString();
  }

  private String word(String name) {
    if (name.equals("finish_reason")) {
      return List.of("stop", "length", "tool_calls").get(random.nextInt(3));
    }
    return name.equals("model") ? "w" + random.nextInt(3) : TEXTS.get(random.nextInt(TEXTS.size()));
  }

  private String space() {
    return random.nextInt(6) == 0 ? " " : "";
  }
}
