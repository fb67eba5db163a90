package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Writes small JSON values as UTF-8 bytes. It writes the commas; the caller closes objects and
 * arrays.
 */
public final class JsonWriter {
  private static final HexFormat HEX = HexFormat.of();

  private final StringBuilder json = new StringBuilder();

  public JsonWriter beginObject() {
    return comma().put('{');
  }

  public JsonWriter endObject() {
    return put('}');
  }

  public JsonWriter beginArray() {
    return comma().put('[');
  }

  public JsonWriter endArray() {
    return put(']');
  }

  /** Writes the name of a member, whose value must follow. */
  public JsonWriter name(String name) {
    return text(name).put(':');
  }

  /** Writes a member: a number, a boolean or null as it is, anything else as a string. */
  public JsonWriter member(String name, @Nullable Object value) {
    name(name);
    if (value == null || value instanceof Number || value instanceof Boolean) {
      return raw(String.valueOf(value));
    }
    return text(value.toString());
  }

  public JsonWriter text(String text) {
    comma().put('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        // A lone surrogate has no UTF-8 form, and a pair means the same when escaped.
        json.append("\\u").append(HEX.toHexDigits(c));
      } else {
        json.append(c);
      }
    }
    return put('"');
  }

  /** Writes JSON that is known to be one valid value. */
  public JsonWriter raw(String value) {
    comma().json.append(value);
    return this;
  }

  /** Writes an existing value, byte for byte. */
  public JsonWriter value(JsonValue value) {
    return raw(new String(value.copy(), UTF_8));
  }

  public byte[] toBytes() {
    return toString().getBytes(UTF_8);
  }

  @Override
  public String toString() {
    return json.toString();
  }

  /** Writes a comma if a value precedes. */
  private JsonWriter comma() {
    return switch (json.isEmpty() ? '[' : json.charAt(json.length() - 1)) {
      case '{', '[', ':' -> this;
      default -> put(',');
    };
  }

  private JsonWriter put(char ascii) {
    json.append(ascii);
    return this;
  }
}
