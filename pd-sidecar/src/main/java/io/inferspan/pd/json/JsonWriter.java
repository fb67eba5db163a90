package io.inferspan.pd.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes small JSON values as UTF-8 bytes; sets the commas itself, trusts its caller to close what
 * it opens.
 */
public final class JsonWriter {
  private static final String HEX = "0123456789abcdef";

  private byte[] json = new byte[128];
  private int length;

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

  /** Names the member whose value comes next. */
  public JsonWriter name(String name) {
    return text(name).put(':');
  }

  public JsonWriter member(String name, String text) {
    return name(name).text(text);
  }

  public JsonWriter member(String name, long number) {
    return name(name).number(number);
  }

  public JsonWriter member(String name, boolean value) {
    return name(name).bool(value);
  }

  public JsonWriter nullMember(String name) {
    return name(name).nothing();
  }

  public JsonWriter text(String text) {
    comma().put('"');
    if (isPlain(text)) {
      put(text.getBytes(StandardCharsets.UTF_8));
    } else {
      put(escape(text).getBytes(StandardCharsets.UTF_8));
    }
    return put('"');
  }

  public JsonWriter number(long value) {
    return raw(Long.toString(value));
  }

  public JsonWriter bool(boolean value) {
    return raw(Boolean.toString(value));
  }

  public JsonWriter nothing() {
    return raw("null");
  }

  /** Writes JSON that is known to be one valid value. */
  public JsonWriter raw(String json) {
    return comma().put(json.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a value from elsewhere, byte for byte. */
  public JsonWriter value(JsonValue value) {
    return comma().put(value.bytes(), value.from(), value.length());
  }

  public byte[] toBytes() {
    return Arrays.copyOf(json, length);
  }

  /** Writes a comma if a value precedes. */
  private JsonWriter comma() {
    return switch (length == 0 ? '[' : json[length - 1]) {
      case '{', '[', ':' -> this;
      default -> put(',');
    };
  }

  private JsonWriter put(char ascii) {
    reserve(1);
    json[length++] = (byte) ascii;
    return this;
  }

  private JsonWriter put(byte[] bytes) {
    return put(bytes, 0, bytes.length);
  }

  private JsonWriter put(byte[] bytes, int from, int count) {
    reserve(count);
    System.arraycopy(bytes, from, json, length, count);
    length += count;
    return this;
  }

  private void reserve(int count) {
    if (json.length - length < count) {
      json = Arrays.copyOf(json, Math.max(2 * json.length, Math.addExact(length, count)));
    }
  }

  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (isEscaped(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /** Surrogates too: a lone one has no UTF-8 form, and a pair means the same when escaped. */
  private static boolean isEscaped(char c) {
    return c < ' ' || c == '"' || c == '\\' || Character.isSurrogate(c);
  }

  private static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        escaped.append('\\').append(c);
      } else if (isEscaped(c)) {
        escaped.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
          escaped.append(HEX.charAt(c >> shift & 0xf));
        }
      } else {
        escaped.append(c);
      }
    }
    return escaped.toString();
  }
}
