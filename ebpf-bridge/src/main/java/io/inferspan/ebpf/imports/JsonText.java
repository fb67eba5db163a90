package io.inferspan.ebpf.imports;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.inferspan.ebpf.flame.StackFormatException;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a sequence of JSON values; a format error states its line and column. */
final class JsonText {

  private static final int MAX_DEPTH = 100;

  private final JsonParser parser;

  JsonText(Reader text) throws IOException {
    this.parser = new JsonFactory().createParser(text);
  }

  @Nullable JsonToken next() throws IOException {
    try {
      return parser.nextToken();
    } catch (JsonProcessingException wrong) {
      throw malformed(wrong);
    }
  }

  @Nullable JsonToken current() {
    return parser.currentToken();
  }

  String name() throws IOException {
    return String.valueOf(parser.currentName());
  }

  void skip() throws IOException {
    try {
      parser.skipChildren();
    } catch (JsonProcessingException wrong) {
      throw malformed(wrong);
    }
  }

  /** Reads an outermost object of the file. */
  JsonRecord record() throws IOException {
    JsonLocation begin = parser.currentTokenLocation();
    return new JsonRecord(object(), "", begin);
  }

  /** Reads an object as maps, lists, strings, numbers and booleans. */
  Map<String, Object> object() throws IOException {
    if (current() != JsonToken.START_OBJECT) {
      throw expected("an object");
    }
    try {
      return object(0);
    } catch (JsonProcessingException wrong) {
      // The parser reads the text of a value lazily.
      throw malformed(wrong);
    }
  }

  private Map<String, Object> object(int depth) throws IOException {
    Map<String, Object> object = new LinkedHashMap<>();
    while (next() == JsonToken.FIELD_NAME) {
      String name = name();
      next();
      Object value = value(depth);
      if (value != null) {
        object.put(name, value);
      }
    }
    return object;
  }

  private @Nullable Object value(int depth) throws IOException {
    JsonToken token = current();
    if (token == null) {
      throw expected("a value, but the file ends here");
    }
    if (depth > MAX_DEPTH) {
      throw expected("at most " + MAX_DEPTH + " levels of nesting");
    }
    return switch (token) {
      case START_OBJECT -> object(depth + 1);
      case START_ARRAY -> array(depth + 1);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE, VALUE_FALSE -> parser.getBooleanValue();
      case VALUE_STRING -> parser.getText();
      default -> null;
    };
  }

  private List<Object> array(int depth) throws IOException {
    List<Object> array = new ArrayList<>();
    while (next() != JsonToken.END_ARRAY) {
      Object value = value(depth);
      if (value != null) {
        array.add(value);
      }
    }
    return array;
  }

  private StackFormatException malformed(JsonProcessingException wrong) {
    return expected("JSON: " + wrong.getOriginalMessage());
  }

  StackFormatException expected(String what) {
    JsonLocation at = parser.currentLocation();
    return new StackFormatException(at.getLineNr(), at.getColumnNr(), what);
  }
}
