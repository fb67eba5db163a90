package io.inferspan.samples.gateway;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a client's request that the gateway needs.
 *
 * @param model the model; empty if the request does not name one
 * @param stream whether a stream is requested
 * @param maxTokens the maximum number of tokens; -1 if it is not set
 * @param input the messages or the prompt, as JSON
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record CompletionRequest(String model, boolean stream, long maxTokens, byte[] input) {

  private static final JsonFactory JSON = new JsonFactory();
  private static final byte[] NOTHING = new byte[0];

  /** Parses a body; returns null if it is not a JSON object. */
  static @Nullable CompletionRequest read(byte[] body) {
    try (JsonParser json = JSON.createParser(body)) {
      return json.nextToken() == JsonToken.START_OBJECT ? read(json, body) : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static CompletionRequest read(JsonParser json, byte[] body) throws IOException {
    String model = "";
    boolean stream = false;
    long maxTokens = -1;
    byte[] input = NOTHING;
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      JsonToken value = json.nextToken();
      switch (name) {
        case "model" -> model = value == JsonToken.VALUE_STRING ? json.getText() : model;
        case "stream" -> stream = value == JsonToken.VALUE_TRUE;
        case "max_tokens", "max_completion_tokens", "max_output_tokens" ->
            maxTokens = value == JsonToken.VALUE_NUMBER_INT ? json.getValueAsLong() : maxTokens;
        case "messages", "prompt", "input" -> input = bytesOf(json, body);
        default -> json.skipChildren();
      }
    }
    return new CompletionRequest(model, stream, maxTokens, input);
  }

  private static byte[] bytesOf(JsonParser json, byte[] body) throws IOException {
    int start = (int) json.currentTokenLocation().getByteOffset();
    json.skipChildren();
    json.finishToken();
    return Arrays.copyOfRange(body, start, (int) json.currentLocation().getByteOffset());
  }
}
