package io.inferspan.pd.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads JSON with Jackson, to compare our results with. */
public final class JsonOracle {
  static final int MAX_DEPTH = 64;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(factory(10_000))
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();
  private static final JsonFactory SHALLOW = factory(MAX_DEPTH);

  private static final Pattern SURROGATE = Pattern.compile("u[dD][89a-fA-F](?=[0-9a-fA-F]{2})");

  private JsonOracle() {}

  private static JsonFactory factory(int maxDepth) {
    return JsonFactory.builder()
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxNestingDepth(maxDepth)
                .maxNumberLength(Integer.MAX_VALUE)
                .maxStringLength(Integer.MAX_VALUE)
                .build())
        .build();
  }

  /** Returns an object as a tree. */
  public static ObjectNode tree(String json) {
    return (ObjectNode) value(json);
  }

  /** Returns any value as a tree. */
  public static JsonNode value(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (IOException e) {
      throw new AssertionError("Jackson rejects it: " + json, e);
    }
  }

  /** Returns whether these bytes are UTF-8 and one JSON object, of limited depth. */
  static boolean isObject(byte[] json) {
    try {
      // Half a surrogate pair, escaped, is valid, but Jackson rejects it in names.
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json)).toString();
      text = SURROGATE.matcher(text).replaceAll("u00");
      try (JsonParser parser = SHALLOW.createParser(new StringReader(text))) {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
          return false;
        }
        int depth = 1;
        while (depth > 0) {
          JsonToken token = parser.nextToken();
          depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        }
        return parser.nextToken() == null;
      }
    } catch (CharacterCodingException e) {
      return false;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns the text of every member of an object, from the key to the value's end, except those
   * with the given names.
   */
  public static List<String> otherMembers(String json, Set<String> names) {
    List<String> members = new ArrayList<>();
    try (JsonParser parser = MAPPER.createParser(json)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean isOther = !names.contains(parser.currentName());
        int start = (int) parser.currentTokenLocation().getCharOffset();
        parser.nextToken();
        parser.skipChildren();
        parser.finishToken();
        if (isOther) {
          members.add(json.substring(start, (int) parser.currentLocation().getCharOffset()));
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return members;
  }
}
