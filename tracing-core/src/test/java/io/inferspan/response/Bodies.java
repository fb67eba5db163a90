package io.inferspan.response;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Response bodies as engines write them, and misleading ones. */
final class Bodies {

  static final String SSE = "text/event-stream; charset=utf-8";
  static final String JSON = "application/json";

  private static final String CHAT_HEAD =
      "{\"id\":\"chatcmpl-7e1f\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
          + "\"model\":\"meta-llama/Llama-3.3-70B-Instruct\",\"choices\":[";

  private Bodies() {}

  /** Returns an event without a name. */
  static String data(String json) {
    return "data: " + json + "\n\n";
  }

  static String event(String type, String fields) {
    String more = fields.isEmpty() ? "" : "," + fields;
    return "event: %s\ndata: {\"type\":\"%s\"%s}\n\n".formatted(type, type, more);
  }

  static String chatDelta(String delta) {
    return chatChoice(
        "\"index\":0,\"delta\":" + delta + ",\"logprobs\":null,\"finish_reason\":null");
  }

  static String chatChoice(String fields) {
    return data(CHAT_HEAD + "{" + fields + "}]}");
  }

  /** Returns a stream of three tokens, with a role before, a keep-alive between and usage after. */
  static String chat() {
    return chatDelta("{\"role\":\"assistant\",\"content\":\"\"}")
        + chatDelta("{\"content\":\"Grüß \\\"usage\\\":{\\\"prompt_tokens\\\":1} \\ud83d\\ude00\"}")
        + ": keep-alive\n\n"
        + chatDelta("{\"content\":\" 世界\\\\\"}")
        + chatDelta("{\"content\":\" }]\"}")
        + chatChoice("\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"")
        + data(
            CHAT_HEAD
                + "],\"usage\":{\"prompt_tokens\":31,\"total_tokens\":34,\"completion_tokens\":3,"
                + "\"prompt_tokens_details\":{\"cached_tokens\":16},"
                + "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}")
        + "data: [DONE]\n\n";
  }

  /** Returns the same stream as {@link #chat()}, with each event on two lines. */
  static String overLines() {
    return chat().replace(",\"choices\"", ",\ndata: \"choices\"");
  }

  static String chatTools() {
    String call = "{\"tool_calls\":[{\"index\":0,%s\"function\":{%s}}]}";
    return chatDelta("{\"role\":\"assistant\",\"content\":null}")
        + chatDelta("{\"reasoning_content\":\"hm\",\"content\":null}")
        + chatDelta(call.formatted("\"id\":\"c1\",", "\"name\":\"weather\",\"arguments\":\"\""))
        + chatDelta(call.formatted("", "\"arguments\":\"\""))
        + chatDelta(
            call.formatted("", "\"arguments\":\"{\\\"usage\\\": {\\\"prompt_tokens\\\": 9}}\""))
        + chatChoice("\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"")
        + "data: [DONE]\n\n";
  }

  static String chatTwoChoices() {
    return chatChoice("\"index\":1,\"delta\":{\"content\":\"a\"},\"finish_reason\":null")
        + chatChoice("\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":null")
        + chatChoice("\"index\":1,\"delta\":{\"content\":\"c\"},\"finish_reason\":\"length\"")
        + chatChoice("\"finish_reason\":\"stop\",\"delta\":{\"content\":\"\"},\"index\":0")
        + "data: [DONE]\n\n";
  }

  static String completions() {
    String head = "{\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"model\":\"m\",\"choices\":[";
    String choice = "{\"index\":0,\"text\":\"%s\",\"logprobs\":null,\"finish_reason\":%s}";
    return data(head + choice.formatted("one", "null") + "]}")
        + data(head + choice.formatted(" two", "null") + "]}")
        + data(head + choice.formatted(" three", "\"length\"") + "]}")
        + data(head + "],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}")
        + "data: [DONE]\n\n";
  }

  static String responses() {
    String place =
        "\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"sequence_number\":%d,";
    String response = "\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"o4\",";
    return event("response.created", response + "\"status\":\"in_progress\",\"usage\":null}")
        + event("response.output_item.added", "\"item\":{\"status\":\"completed\",\"content\":[]}")
        + event("response.reasoning_text.delta", place.formatted(2) + "\"delta\":\"hm\"")
        + event("response.output_text.delta", place.formatted(3) + "\"delta\":\"\"")
        + event("response.output_text.delta", place.formatted(4) + "\"delta\":\"Hi\"")
        + event("response.function_call_arguments.delta", place.formatted(5) + "\"delta\":\"{\"")
        + event("response.output_text.done", place.formatted(6) + "\"text\":\"Hi\"")
        + event(
            "response.completed",
            response
                + "\"error\":null,\"incomplete_details\":null,\"status\":\"completed\","
                + "\"output\":[{\"status\":\"incomplete\",\"usage\":{\"input_tokens\":1}}],"
                + "\"usage\":{\"input_tokens\":20,\"input_tokens_details\":{\"cached_tokens\":4},"
                + "\"output_tokens\":7,\"output_tokens_details\":{\"reasoning_tokens\":3}}}");
  }

  static String messages() {
    return event(
            "message_start",
            "\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
                + "\"model\":\"claude\",\"content\":[],\"stop_reason\":null,"
                + "\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":2,"
                + "\"cache_read_input_tokens\":30,\"output_tokens\":1}}")
        + event(
            "content_block_start",
            "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
        + event("ping", "")
        + blockDelta("thinking_delta", "\"thinking\":\"hm\"")
        + blockDelta("signature_delta", "\"signature\":\"c2ln\"")
        + blockDelta("text_delta", "\"text\":\"Hello\"")
        + blockDelta("text_delta", "\"text\":\"\"")
        + blockDelta("input_json_delta", "\"partial_json\":\"{\\\"city\\\":\"")
        + event("content_block_stop", "\"index\":0")
        + event(
            "message_delta",
            "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},"
                + "\"usage\":{\"output_tokens\":12}")
        + event("message_stop", "");
  }

  private static String blockDelta(String type, String field) {
    return event(
        "content_block_delta", "\"index\":0,\"delta\":{\"type\":\"%s\",%s}".formatted(type, field));
  }

  static String generate() {
    String chunk =
        "{\"request_id\":\"r\",\"choices\":[{\"index\":0,\"finish_reason\":%s,\"token_ids\":[%s]}]}";
    return data(chunk.formatted("null", "17"))
        + data(chunk.formatted("null", "4, 5"))
        + data(chunk.formatted("\"stop\"", ""))
        + "data: [DONE]\n\n";
  }

  static String chatWhole() {
    return """
        {
          "id": "chatcmpl-1", "object": "chat.completion", "model": "qwen\\/3",
          "choices": [
            {"index": 0, "message": {"content": "\\"usage\\":{\\"prompt_tokens\\":1}",
              "usage": {"prompt_tokens": 1}, "finish_reason": "no", "model": "no"},
             "finish_reason": "stop", "stop_reason": "secret words"},
            {"index": 1, "message": {"content": ""}, "finish_reason": "length"}
          ],
          "usage": {"prompt_tokens": 12, "completion_tokens": 40, "reasoning_tokens": 6}
        }
        """;
  }

  static String responsesWhole() {
    return "{\"object\":\"response\",\"status\":\"incomplete\",\"error\":null,"
        + "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"model\":\"o4\","
        + "\"output\":[{\"type\":\"message\",\"status\":\"completed\"}],"
        + "\"usage\":{\"input_tokens\":8,\"output_tokens\":64}}";
  }

  static String messagesWhole() {
    return "{\"type\":\"message\",\"model\":\"claude\","
        + "\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}],"
        + "\"stop_reason\":\"max_tokens\",\"usage\":{\"input_tokens\":3,\"output_tokens\":5}}";
  }

  static Map<String, String> streams() {
    Map<String, String> streams = new LinkedHashMap<>();
    streams.put("chat", chat());
    streams.put("chat with CRLF", chat().replace("\n", "\r\n"));
    streams.put("chat with CR", chat().replace("\n", "\r"));
    streams.put("chat with a mark and no spaces", "\uFEFF" + chat().replace("data: ", "data:"));
    streams.put("chat over lines", overLines());
    streams.put("chat over lines with CRLF", overLines().replace("\n", "\r\n"));
    streams.put("tools", chatTools());
    streams.put("two choices", chatTwoChoices());
    streams.put("completions", completions());
    streams.put("responses", responses());
    streams.put("messages", messages());
    streams.put("generate", generate());
    streams.put("cut off in a number", data("{\"usage\":{\"prompt_tokens\":12"));
    streams.put("error", chatDelta("{\"content\":\"a\"}") + Errors.IN_CHAT);
    streams.put("error in messages", messages() + Errors.IN_MESSAGES);
    streams.put(
        "alike",
        Stream.generate(() -> chatDelta("{\"content\":\"word\"}"))
            .limit(4)
            .collect(Collectors.joining()));
    return streams;
  }

  static Map<String, String> documents() {
    return Map.of(
        "chat", chatWhole(),
        "responses", responsesWhole(),
        "messages", messagesWhole(),
        "error", Errors.WHOLE);
  }

  /** Errors, whose messages must not be exposed. */
  static final class Errors {
    static final String WHOLE =
        "{\"error\":{\"message\":\"secret\",\"type\":\"BadRequestError\",\"param\":null,\"code\":400}}";
    static final String IN_CHAT = data(WHOLE) + "data: [DONE]\n\n";
    static final String IN_MESSAGES =
        event("error", "\"error\":{\"type\":\"overloaded_error\",\"message\":\"secret\"}");
    static final String IN_RESPONSES =
        event("error", "\"code\":\"server_error\",\"message\":\"secret\",\"param\":null");
    static final String FLAT =
        "{\"object\":\"error\",\"message\":\"secret\",\"type\":\"NotFoundError\",\"code\":404}";

    private Errors() {}
  }
}
