package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
    return data(errorBody(500, message)).appendString("data: [DONE]\n\n");
  }

  /** The body of an error answer. */
  default Buffer error(int status, String message) {
    return json(errorBody(status, message));
  }

  /** A JSON text that is written as it is. */
  record Raw(String json) {}

  /** Returns a JSON object with these members in order. */
  static Map<String, @Nullable Object> object(@Nullable Object... namesAndValues) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      members.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    return members;
  }

  static Buffer json(Object value) {
    return encoded("", value, "");
  }

  /** A server-sent event without a name. */
  static Buffer data(Object value) {
    return encoded("data: ", value, "\n\n");
  }

  /** A server-sent event with a name, which the object repeats as its type. */
  static Buffer named(String type, Map<String, @Nullable Object> members) {
    Map<String, @Nullable Object> all = object("type", type);
    all.putAll(members);
    return encoded("event: " + type + "\ndata: ", all, "\n\n");
  }

  private static Buffer encoded(String before, Object value, String after) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    bytes.writeBytes(before.getBytes(StandardCharsets.UTF_8));
    try (JsonGenerator generator = JSON.createGenerator(bytes)) {
      write(generator, value);
    } catch (IOException e) {
      throw new UncheckedIOException("an in-memory stream refused JSON", e);
    }
    bytes.writeBytes(after.getBytes(StandardCharsets.UTF_8));
    return Buffer.buffer(bytes.toByteArray());
  }

  private static void write(JsonGenerator g, @Nullable Object value) throws IOException {
    if (value instanceof Map<?, ?> members) {
      g.writeStartObject();
      for (Map.Entry<?, ?> member : members.entrySet()) {
        g.writeFieldName(String.valueOf(member.getKey()));
        write(g, member.getValue());
      }
      g.writeEndObject();
    } else if (value instanceof Iterable<?> items) {
      g.writeStartArray();
      for (Object item : items) {
        write(g, item);
      }
      g.writeEndArray();
    } else if (value instanceof Number number) {
      g.writeNumber(number.longValue());
    } else if (value instanceof Raw raw) {
      g.writeRawValue(raw.json());
    } else {
      g.writeString((String) value);
    }
  }

  /** An error as vLLM words it for the OpenAI APIs. */
  private static Map<String, @Nullable Object> errorBody(int status, String message) {
    return object(
        "error",
        object("message", message, "type", errorType(status), "param", null, "code", status));
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

  /** A complete response of chat, completions or generate; members common to all come last. */
  static Buffer ended(Map<String, @Nullable Object> whole, Reply reply) {
    if (reply.hasUsage()) {
      whole.put("usage", usage(reply));
    }
    whole.put("kv_transfer_params", kvTransferParams(reply));
    return json(whole);
  }

  /** The last events of chat and completions: finish reason, usage if requested, {@code [DONE]}. */
  static Buffer closed(Buffer end, Reply reply, Map<String, @Nullable Object> head) {
    if (reply.call().includeUsage() && reply.hasUsage()) {
      head.put("choices", List.of());
      head.put("usage", usage(reply));
      end.appendBuffer(data(head));
    }
    return end.appendString("data: [DONE]\n\n");
  }

  private static Map<String, @Nullable Object> usage(Reply reply) {
    return object(
        "prompt_tokens",
        reply.promptTokens(),
        "total_tokens",
        reply.promptTokens() + reply.tokens(),
        "completion_tokens",
        reply.tokens(),
        "prompt_tokens_details",
        reply.hasUsageDetails() ? object("cached_tokens", reply.cachedTokens()) : null);
  }

  /** The KV transfer parameters, null when the answer has none, as vLLM writes them. */
  static @Nullable Raw kvTransferParams(Reply reply) {
    String json = reply.kvTransferParams();
    return json == null ? null : new Raw(json);
  }
}
