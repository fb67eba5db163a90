package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The response format of one API: one JSON body, or the events of a stream in the order of these
 * methods.
 */
interface ApiDialect {
  JsonFactory JSON = new JsonFactory();

  /** Returns the prefix of response ids. */
  String idPrefix();

  /** The body of an answer that is not streamed. */
  Buffer whole(Reply reply);

  /** The events that leave with the headers, long before the first token. */
  default Buffer preamble(Reply reply) {
    return Buffer.buffer();
  }

  /** The events that leave right before the first token. */
  default Buffer opening(Reply reply) {
    return Buffer.buffer();
  }

  /** The event that carries one token. */
  Buffer token(Reply reply, int index);

  /** The events after the last token. */
  Buffer closing(Reply reply);

  /** The last events of a stream that fails after some tokens. */
  default Buffer failure(String message, int tokensSent) {
    return data(g -> writeError(g, 500, message)).appendString("data: [DONE]\n\n");
  }

  /** The body of an error answer. */
  default Buffer error(int status, String message) {
    return json(g -> writeError(g, status, message));
  }

  /** Writes one JSON value. */
  @FunctionalInterface
  interface JsonWriting {
    void to(JsonGenerator generator) throws IOException;
  }

  static Buffer json(JsonWriting writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    write(bytes, writing);
    return Buffer.buffer(bytes.toByteArray());
  }

  /** A server-sent event without a name. */
  static Buffer data(JsonWriting writing) {
    return event("data: ", writing);
  }

  /** A server-sent event with a name. */
  static Buffer named(String name, JsonWriting writing) {
    return event("event: " + name + "\ndata: ", writing);
  }

  private static Buffer event(String start, JsonWriting writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    bytes.writeBytes(start.getBytes(StandardCharsets.UTF_8));
    write(bytes, writing);
    bytes.write('\n');
    bytes.write('\n');
    return Buffer.buffer(bytes.toByteArray());
  }

  private static void write(ByteArrayOutputStream bytes, JsonWriting writing) {
    try (JsonGenerator generator = JSON.createGenerator(bytes)) {
      writing.to(generator);
    } catch (IOException e) {
      throw new UncheckedIOException("an in-memory stream refused JSON", e);
    }
  }

  /** An error as vLLM words it for the OpenAI APIs. */
  private static void writeError(JsonGenerator g, int status, String message) throws IOException {
    g.writeStartObject();
    g.writeObjectFieldStart("error");
    g.writeStringField("message", message);
    g.writeStringField("type", errorType(status));
    g.writeNullField("param");
    g.writeNumberField("code", status);
    g.writeEndObject();
    g.writeEndObject();
  }

  private static String errorType(int status) {
    return switch (status) {
      case 400 -> "BadRequestError";
      case 401 -> "AuthenticationError";
      case 404 -> "NotFoundError";
      case 429 -> "RateLimitError";
      case 503 -> "ServiceUnavailableError";
      default -> status < 500 ? "BadRequestError" : "InternalServerError";
    };
  }

  /** The usage block that chat, completions and generate share. */
  static void writeUsage(JsonGenerator g, Reply reply) throws IOException {
    g.writeObjectFieldStart("usage");
    g.writeNumberField("prompt_tokens", reply.promptTokens());
    g.writeNumberField("total_tokens", reply.promptTokens() + reply.tokens());
    g.writeNumberField("completion_tokens", reply.tokens());
    if (reply.hasUsageDetails()) {
      g.writeObjectFieldStart("prompt_tokens_details");
      g.writeNumberField("cached_tokens", reply.cachedTokens());
      g.writeEndObject();
    } else {
      g.writeNullField("prompt_tokens_details");
    }
    g.writeEndObject();
  }

  /** The KV transfer parameters, null when the answer has none, as vLLM writes them. */
  static void writeKvTransferParams(JsonGenerator g, Reply reply) throws IOException {
    g.writeFieldName("kv_transfer_params");
    String json = reply.kvTransferParams();
    if (json == null) {
      g.writeNull();
    } else {
      g.writeRawValue(json);
    }
  }
}
