package io.inferspan.testing.engine;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A JSON text as maps, lists, strings, longs, doubles and booleans, with lookup by path. */
final class JsonTree {
  private final @Nullable Object root;

  private JsonTree(@Nullable Object root) {
    this.root = root;
  }

  static JsonTree of(String json) {
    try (JsonParser parser = new JsonFactory().createParser(json)) {
      parser.nextToken();
      Object root = value(parser);
      if (parser.nextToken() != null) {
        throw new AssertionError("more than one JSON value in " + json);
      }
      return new JsonTree(root);
    } catch (IOException e) {
      throw new UncheckedIOException("not JSON: " + json, e);
    }
  }

  /** Returns the value at a path such as "choices.0.delta.content"; null if null or absent. */
  @Nullable Object at(String path) {
    Object value = root;
    for (String step : path.split("\\.", -1)) {
      if (value instanceof Map<?, ?> map) {
        value = map.get(step);
      } else if (value instanceof List<?> list && Integer.parseInt(step) < list.size()) {
        value = list.get(Integer.parseInt(step));
      } else {
        return null;
      }
    }
    return value;
  }

  boolean has(String field) {
    return root instanceof Map<?, ?> map && map.containsKey(field);
  }

  private static @Nullable Object value(JsonParser p) throws IOException {
    return switch (p.currentToken()) {
      case START_OBJECT -> object(p);
      case START_ARRAY -> array(p);
      case VALUE_STRING -> p.getText();
      case VALUE_NUMBER_INT -> p.getLongValue();
      case VALUE_NUMBER_FLOAT -> p.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> null;
    };
  }

  private static Map<String, @Nullable Object> object(JsonParser p) throws IOException {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    while (p.nextToken() == JsonToken.FIELD_NAME) {
      String name = p.currentName();
      p.nextToken();
      map.put(name, value(p));
    }
    return map;
  }

  private static List<@Nullable Object> array(JsonParser p) throws IOException {
    List<@Nullable Object> list = new ArrayList<>();
    while (p.nextToken() != JsonToken.END_ARRAY) {
      list.add(value(p));
    }
    return list;
  }
}
