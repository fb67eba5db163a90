package io.inferspan.samples.desk.web;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes JSON into a buffer; members with null values are omitted. */
final class Json {

  private static final JsonFactory FACTORY = new JsonFactory();

  /**
   * The largest integer that JavaScript holds exactly; larger attribute values are written as text.
   */
  private static final long MAX_SAFE_INTEGER = 1L << 53;

  private static final double NANOS_PER_MILLI = 1e6;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(1024);
  private final JsonGenerator out;

  private Json() {
    try {
      out = FACTORY.createGenerator(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A write to memory, which does not throw {@link IOException}. */
  private interface Step {
    void run() throws IOException;
  }

  private Json step(Step step) {
    try {
      step.run();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Buffer object(Consumer<Json> members) {
    Json json = new Json();
    return json.step(json.out::writeStartObject).with(members).step(json.out::writeEndObject).end();
  }

  static <T> Buffer list(Collection<T> items, ItemWriter<T> writer) {
    Json json = new Json();
    return json.step(() -> json.items(items, writer)).end();
  }

  /** Writes the members of one list item. */
  interface ItemWriter<T> {
    void write(Json json, T item);
  }

  private Json with(Consumer<Json> members) {
    members.accept(this);
    return this;
  }

  private Buffer end() {
    step(out::close);
    return Buffer.buffer(bytes.toByteArray());
  }

  Json put(String name, @Nullable String value) {
    return value == null ? this : step(() -> out.writeStringField(name, value));
  }

  Json put(String name, @Nullable Long value) {
    return value == null ? this : step(() -> out.writeNumberField(name, value));
  }

  Json put(String name, int value) {
    return step(() -> out.writeNumberField(name, value));
  }

  Json put(String name, @Nullable Double value) {
    return value == null || !Double.isFinite(value)
        ? this
        : step(() -> out.writeNumberField(name, value));
  }

  /** Writes a member if the value is true, and omits it otherwise. */
  Json putIf(String name, boolean value) {
    return value ? step(() -> out.writeBooleanField(name, true)) : this;
  }

  Json putMillis(String name, @Nullable Long nanos) {
    return put(name, nanos == null ? null : (Double) (nanos / NANOS_PER_MILLI));
  }

  Json putObject(String name, Consumer<Json> members) {
    return step(() -> out.writeObjectFieldStart(name)).with(members).step(out::writeEndObject);
  }

  <T> Json putList(String name, Collection<T> items, ItemWriter<T> writer) {
    return step(
        () -> {
          out.writeFieldName(name);
          items(items, writer);
        });
  }

  private <T> void items(Collection<T> items, ItemWriter<T> writer) throws IOException {
    out.writeStartArray();
    for (T item : items) {
      out.writeStartObject();
      writer.write(this, item);
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  Json putTexts(String name, List<String> values) {
    return step(
        () -> {
          out.writeArrayFieldStart(name);
          for (String value : values) {
            out.writeString(value);
          }
          out.writeEndArray();
        });
  }

  /** Writes a map whose values are strings, numbers, booleans, lists and maps. */
  Json putMap(String name, Map<String, ?> values) {
    return step(
        () -> {
          out.writeFieldName(name);
          any(values);
        });
  }

  private void any(Object value) throws IOException {
    switch (value) {
      case Map<?, ?> map -> {
        out.writeStartObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          out.writeFieldName(String.valueOf(entry.getKey()));
          any(entry.getValue());
        }
        out.writeEndObject();
      }
      case List<?> list -> {
        out.writeStartArray();
        for (Object item : list) {
          any(item);
        }
        out.writeEndArray();
      }
      case Boolean flag -> out.writeBoolean(flag);
      case Double number when Double.isFinite(number) -> out.writeNumber(number);
      case Long number when Math.abs(number) <= MAX_SAFE_INTEGER -> out.writeNumber(number);
      default -> out.writeString(value.toString());
    }
  }
}
