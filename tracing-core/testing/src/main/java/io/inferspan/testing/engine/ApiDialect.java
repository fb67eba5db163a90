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
 * The response format of one API: a JSON body, or a stream of events. The methods for a stream are
 * declared in the order in which their events are sent.
 */
interface ApiDialect {
  JsonFactory JSON = new JsonFactory();

  /** Returns the prefix of response ids. */
  String idPrefix();

  /** Returns the body of a response that is not streamed. */
  Buffer whole(Reply reply);

  /** Returns the events that are sent with the headers. */
  default Buffer preamble(Reply reply) {
    return Buffer.buffer();
  }

  /** Returns the events that are sent immediately before the first token. */
  default Buffer opening(Reply reply) {
    return Buffer.buffer();
  }

  /** Returns the event for one token. */
  Buffer token(Reply reply, int index);

  /** Returns the events after the last token. */
  Buffer closing(Reply reply);

  /** Returns the last events of a stream that fails after some tokens. */
  default Buffer failure(String message, int tokensSent) {
    return data(errorBody(500, message)).appendString("data: [DONE]\n\n");
  }

  /** Returns the body of an error response. */
  default Buffer error(int status, String message) {
    return json(errorBody(status, message));
  }

  /** JSON text that is written unchanged. */
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

  /** Returns a server-sent event without a name. */
  static Buffer data(Object value) {
    return encoded("data: ", value, "\n\n");
  }

  /** Returns a server-sent event whose name is also the {@code type} in its JSON object. */
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
      throw new UncheckedIOException("JSON could not be written to memory", e);
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

  /** Returns an error in the format of vLLM's OpenAI APIs. */
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

  /**
   * Completes a response of chat, completions or generate with usage and KV transfer parameters.
   */
  static Buffer ended(Map<String, @Nullable Object> whole, Reply reply) {
    if (reply.hasUsage()) {
      whole.put("usage", usage(reply));
    }
    whole.put("kv_transfer_params", kvTransferParams(reply));
    return json(whole);
  }

  /** Completes a stream of chat or completions with usage, if requested, and {@code [DONE]}. */
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

  /** Returns the KV transfer parameters; null if the response has none, as in vLLM. */
  static @Nullable Raw kvTransferParams(Reply reply) {
    String json = reply.kvTransferParams();
    return json == null ? null : new Raw(json);
  }
}
