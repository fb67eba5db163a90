package io.inferspan.testing.engine;

import static io.inferspan.testing.engine.ApiDialect.quoted;

/**
 * The OpenAI responses API. A stream ends with {@code response.completed} or, if its finish reason
 * is not {@code stop}, with {@code response.incomplete}.
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
  public String whole(Reply reply) {
    return response(reply, endStatus(reply));
  }

  @Override
  public String preamble(Reply reply) {
    return lifecycle(reply, "created", 0, RUNNING) + lifecycle(reply, RUNNING, 1, RUNNING);
  }

  @Override
  public String opening(Reply reply) {
    return named("response.output_item.added", 2, item(reply, RUNNING))
        + named("response.content_part.added", 3, place(reply) + part(""));
  }

  @Override
  public String token(Reply reply, int index) {
    String delta = ",\"delta\":" + quoted(reply.token(index)) + ",\"logprobs\":[]";
    return named("response.output_text.delta", FIRST_TOKEN + index, place(reply) + delta);
  }

  @Override
  public String closing(Reply reply) {
    int next = FIRST_TOKEN + reply.tokens();
    String text = reply.text();
    String status = endStatus(reply);
    return named("response.output_text.done", next, place(reply) + ",\"text\":" + quoted(text))
        + named("response.content_part.done", next + 1, place(reply) + part(text))
        + named("response.output_item.done", next + 2, item(reply, status))
        + lifecycle(reply, status, next + 3, status);
  }

  @Override
  public String failure(String message, int tokensSent) {
    int sequence = tokensSent == 0 ? 2 : FIRST_TOKEN + tokensSent;
    return named(
        "error",
        sequence,
        ",\"code\":\"server_error\",\"message\":" + quoted(message) + ",\"param\":null");
  }

  /** Returns an event with a sequence number. */
  private static String named(String type, int sequence, String members) {
    return ApiDialect.named(type, ",\"sequence_number\":" + sequence + members);
  }

  private static String lifecycle(Reply reply, String event, int sequence, String status) {
    return named("response." + event, sequence, ",\"response\":" + response(reply, status));
  }

  private static String response(Reply reply, String status) {
    boolean ended = !status.equals(RUNNING);
    return """
        {"id":%s,"object":"response","created_at":%s,"model":%s,"status":"%s",\
        "incomplete_details":%s,"output":[%s],"usage":%s%s}"""
        .formatted(
            quoted(reply.id()),
            reply.createdSeconds(),
            quoted(reply.model()),
            status,
            incompleteDetails(reply, status),
            ended ? message(reply, status) : "",
            ended && reply.hasUsage() ? usage(reply) : "null",
            ended ? ApiDialect.kvTransferParams(reply) : "");
  }

  private static String incompleteDetails(Reply reply, String status) {
    if (!status.equals("incomplete")) {
      return "null";
    }
    boolean cut = reply.finishReason().equals("length");
    return "{\"reason\":" + quoted(cut ? "max_output_tokens" : reply.finishReason()) + "}";
  }

  private static String item(Reply reply, String status) {
    return ",\"output_index\":0,\"item\":" + message(reply, status);
  }

  private static String message(Reply reply, String status) {
    return """
        {"id":%s,"type":"message","role":"assistant","status":"%s","content":[%s]}"""
        .formatted(itemId(reply), status, status.equals(RUNNING) ? "" : text(reply.text()));
  }

  private static String part(String text) {
    return ",\"part\":" + text(text);
  }

  private static String text(String text) {
    return "{\"type\":\"output_text\",\"text\":" + quoted(text) + ",\"annotations\":[]}";
  }

  private static String place(Reply reply) {
    return ",\"item_id\":" + itemId(reply) + ",\"output_index\":0,\"content_index\":0";
  }

  private static String usage(Reply reply) {
    String details = ",\"input_tokens_details\":{\"cached_tokens\":" + reply.cachedTokens() + "}";
    return """
        {"input_tokens":%s%s,"output_tokens":%s,"output_tokens_details":{"reasoning_tokens":0},\
        "total_tokens":%s}"""
        .formatted(
            reply.promptTokens(),
            reply.hasUsageDetails() ? details : "",
            reply.tokens(),
            reply.promptTokens() + reply.tokens());
  }

  private static String itemId(Reply reply) {
    return quoted("msg_" + reply.id());
  }

  private static String endStatus(Reply reply) {
    return reply.finishReason().equals("stop") ? "completed" : "incomplete";
  }
}
