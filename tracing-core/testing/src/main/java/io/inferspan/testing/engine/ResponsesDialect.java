package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.object;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The OpenAI responses API. A stream ends with {@code response.completed}, or with {@code
 * response.incomplete} if it reached the limit on output tokens.
 */
final class ResponsesDialect implements ApiDialect {
  /**
   * The sequence number of the first token, after created, in_progress, item added and part added.
   */
  private static final int FIRST_TOKEN = 4;

  private static final String RUNNING = "in_progress";

  @Override
  public String idPrefix() {
    return "resp_";
  }

  @Override
  public Buffer whole(Reply reply) {
    return ApiDialect.json(response(reply, endStatus(reply)));
  }

  @Override
  public Buffer preamble(Reply reply) {
    return lifecycle(reply, "response.created", 0, RUNNING)
        .appendBuffer(lifecycle(reply, "response.in_progress", 1, RUNNING));
  }

  @Override
  public Buffer opening(Reply reply) {
    return named("response.output_item.added", 2, item(reply, RUNNING))
        .appendBuffer(named("response.content_part.added", 3, part(reply, "")));
  }

  @Override
  public Buffer token(Reply reply, int index) {
    Map<String, @Nullable Object> delta = place(reply);
    delta.put("delta", reply.token(index));
    delta.put("logprobs", List.of());
    return named("response.output_text.delta", FIRST_TOKEN + index, delta);
  }

  @Override
  public Buffer closing(Reply reply) {
    int next = FIRST_TOKEN + reply.tokens();
    Map<String, @Nullable Object> text = place(reply);
    text.put("text", reply.text());
    String status = endStatus(reply);
    return named("response.output_text.done", next, text)
        .appendBuffer(named("response.content_part.done", next + 1, part(reply, reply.text())))
        .appendBuffer(named("response.output_item.done", next + 2, item(reply, status)))
        .appendBuffer(lifecycle(reply, "response." + status, next + 3, status));
  }

  @Override
  public Buffer failure(String message, int tokensSent) {
    int sequence = tokensSent == 0 ? 2 : FIRST_TOKEN + tokensSent;
    return named(
        "error", sequence, object("code", "server_error", "message", message, "param", null));
  }

  /** Returns an event with a sequence number. */
  private static Buffer named(String type, int sequence, Map<String, @Nullable Object> members) {
    Map<String, @Nullable Object> all = object("sequence_number", sequence);
    all.putAll(members);
    return ApiDialect.named(type, all);
  }

  private static Buffer lifecycle(Reply reply, String type, int sequence, String status) {
    return named(type, sequence, object("response", response(reply, status)));
  }

  private static Map<String, @Nullable Object> response(Reply reply, String status) {
    boolean ended = !status.equals(RUNNING);
    Map<String, @Nullable Object> response = object("id", reply.id(), "object", "response");
    response.put("created_at", reply.createdSeconds());
    response.put("model", reply.model());
    response.put("status", status);
    response.put("incomplete_details", incompleteDetails(reply, status));
    response.put("output", ended ? List.of(message(reply, status)) : List.of());
    response.put("usage", ended && reply.hasUsage() ? usage(reply) : null);
    if (ended) {
      response.put("kv_transfer_params", ApiDialect.kvTransferParams(reply));
    }
    return response;
  }

  private static @Nullable Object incompleteDetails(Reply reply, String status) {
    if (!status.equals("incomplete")) {
      return null;
    }
    boolean cut = reply.finishReason().equals("length");
    return object("reason", cut ? "max_output_tokens" : reply.finishReason());
  }

  private static Map<String, @Nullable Object> item(Reply reply, String status) {
    return object("output_index", 0, "item", message(reply, status));
  }

  private static Object message(Reply reply, String status) {
    Map<String, @Nullable Object> message = object("id", itemId(reply), "type", "message");
    message.put("role", "assistant");
    message.put("status", status);
    message.put("content", status.equals(RUNNING) ? List.of() : List.of(text(reply.text())));
    return message;
  }

  private static Map<String, @Nullable Object> part(Reply reply, String text) {
    Map<String, @Nullable Object> part = place(reply);
    part.put("part", text(text));
    return part;
  }

  private static Object text(String text) {
    return object("type", "output_text", "text", text, "annotations", List.of());
  }

  private static Map<String, @Nullable Object> place(Reply reply) {
    return object("item_id", itemId(reply), "output_index", 0, "content_index", 0);
  }

  private static Object usage(Reply reply) {
    Map<String, @Nullable Object> usage = object("input_tokens", reply.promptTokens());
    if (reply.hasUsageDetails()) {
      usage.put("input_tokens_details", object("cached_tokens", reply.cachedTokens()));
    }
    usage.put("output_tokens", reply.tokens());
    usage.put("output_tokens_details", object("reasoning_tokens", 0));
    usage.put("total_tokens", reply.promptTokens() + reply.tokens());
    return usage;
  }

  private static String itemId(Reply reply) {
    return "msg_" + reply.id();
  }

  private static String endStatus(Reply reply) {
    return reply.finishReason().equals("stop") ? "completed" : "incomplete";
  }
}
