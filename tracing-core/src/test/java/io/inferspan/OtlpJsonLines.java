package io.inferspan;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.inferspan.exporter.JsonLinesSpanExporter;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads OTLP/JSON into maps and lists, with an independent parser. */
public final class OtlpJsonLines {

  private static final JsonFactory JSON = new JsonFactory();

  private OtlpJsonLines() {}

  /** Returns the line that the exporter writes for {@code spans}. */
  public static String written(Collection<SpanData> spans) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonLinesSpanExporter.to(out).export(spans);
    return out.toString(StandardCharsets.UTF_8);
  }

  /** Returns the spans of all lines, in order. */
  public static List<Map<String, Object>> spans(String lines) {
    List<Map<String, Object>> spans = new ArrayList<>();
    for (String line : lines.lines().toList()) {
      for (Map<String, Object> resource : list(parse(line), "resourceSpans")) {
        for (Map<String, Object> scope : list(resource, "scopeSpans")) {
          spans.addAll(list(scope, "spans"));
        }
      }
    }
    return spans;
  }

  /** Parses a line that contains one JSON object. */
  public static Map<String, Object> parse(String line) {
    try (JsonParser parser = JSON.createParser(line)) {
      parser.nextToken();
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw new AssertionError("more than one JSON value in: " + line);
      }
      return object(value);
    } catch (IOException e) {
      throw new UncheckedIOException("not JSON: " + line, e);
    }
  }

  /** Returns the objects under {@code name}; empty if it is missing. */
  @SuppressWarnings("unchecked") // a JSON array, or the test fails where it casts
  public static List<Map<String, Object>> list(Map<String, Object> object, String name) {
    return (List<Map<String, Object>>) object.getOrDefault(name, List.of());
  }

  /** Returns the object under {@code name}. */
  public static Map<String, Object> object(Map<String, Object> object, String name) {
    return object(object.get(name));
  }

  @SuppressWarnings("unchecked") // a JSON object, or the test fails where it casts
  private static Map<String, Object> object(@Nullable Object value) {
    if (value == null) {
      throw new AssertionError("a JSON object is missing");
    }
    return (Map<String, Object>) value;
  }

  private static Object value(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> readObject(parser);
      case START_ARRAY -> readArray(parser);
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> parser.getLongValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> throw new AssertionError("OTLP/JSON has no " + parser.currentToken());
    };
  }

  private static Map<String, Object> readObject(JsonParser parser) throws IOException {
    Map<String, Object> object = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      if (object.put(name, value(parser)) != null) {
        throw new AssertionError("twice in one object: " + name);
      }
    }
    return object;
  }

  private static List<Object> readArray(JsonParser parser) throws IOException {
    List<Object> array = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(value(parser));
    }
    return array;
  }
}
