package io.inferspan.pd.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** A JSON value in its original bytes, which are decoded only when the value is read. */
public final class JsonValue {
  /**
   * The maximum length of a number to parse: longer ones are not counts, and the time to parse them
   * grows faster than their length.
   */
  private static final int MAX_NUMBER_LENGTH = 32;

  /** The maximum length of one escaped character, such as {@code \\u0041}. */
  private static final int MAX_ESCAPED = 6;

  private static final char ASCII = 127;

  private static final double MAX_EXACT = 1L << 53;

  private final byte[] json;
  private final int from;
  private final int to;

  JsonValue(byte[] json, int from, int to) {
    this.json = json;
    this.from = from;
    this.to = to;
  }

  /** Wraps JSON that is known to be one valid value, without space around it. */
  static JsonValue trusted(byte[] json) {
    return new JsonValue(json, 0, json.length);
  }

  public boolean isObject() {
    return json[from] == '{';
  }

  public boolean isArray() {
    return json[from] == '[';
  }

  boolean isString() {
    return json[from] == '"';
  }

  private boolean isNumber() {
    return json[from] == '-' || (json[from] >= '0' && json[from] <= '9');
  }

  public boolean isTrue() {
    return json[from] == 't';
  }

  public boolean isNull() {
    return json[from] == 'n';
  }

  /** Returns the value as an integer, also if it is written as {@code 50.0} or {@code 5e1}. */
  public long longValue(long orElse) {
    if (!isNumber() || length() > MAX_NUMBER_LENGTH) {
      return orElse;
    }
    String digits = new String(json, from, length(), StandardCharsets.US_ASCII);
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException _) {
      double value = Double.parseDouble(digits);
      return Math.abs(value) <= MAX_EXACT && value == Math.rint(value) ? (long) value : orElse;
    }
  }

  /** Returns the text of a string; null for anything else. */
  public @Nullable String text() {
    return isString() ? decoded() : null;
  }

  boolean isEscaped() {
    for (int i = from; i < to; i++) {
      if (json[i] == '\\') {
        return true;
      }
    }
    return false;
  }

  String decoded() {
    String raw = new String(json, from + 1, length() - 2, StandardCharsets.UTF_8);
    int escape = raw.indexOf('\\');
    return escape < 0 ? raw : unescape(raw, escape);
  }

  private static String unescape(String raw, int firstEscape) {
    StringBuilder text = new StringBuilder(raw.length());
    int copied = 0;
    int escape = firstEscape;
    while (escape >= 0) {
      text.append(raw, copied, escape);
      char escaped = raw.charAt(escape + 1);
      copied = escape + 2;
      if (escaped == 'u') {
        text.append((char) Integer.parseInt(raw, copied, copied + 4, 16));
        copied += 4;
      } else {
        text.append(unescape(escaped));
      }
      escape = raw.indexOf('\\', copied);
    }
    return text.append(raw, copied, raw.length()).toString();
  }

  private static char unescape(char escaped) {
    return switch (escaped) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> escaped;
    };
  }

  /** Returns whether this is a string equal to this text. */
  public boolean isText(String expected) {
    int same = 0;
    int length = length() - 2;
    if (!isString() || length < expected.length()) {
      return false;
    }
    while (same < expected.length() && json[from + 1 + same] == expected.charAt(same)) {
      same++;
    }
    if (same == expected.length()) {
      return same == length;
    }
    boolean spelled = json[from + 1 + same] == '\\' || expected.charAt(same) > ASCII;
    return spelled && length <= MAX_ESCAPED * expected.length() && expected.equals(decoded());
  }

  /** Returns the length of the value in its original form. */
  public int length() {
    return to - from;
  }

  public byte[] copy() {
    return Arrays.copyOfRange(json, from, to);
  }

  /** Returns this value as an object; null if it is not one, or has too many members. */
  public @Nullable JsonObject object() {
    return isObject() ? JsonScan.of(json, from, to, Integer.MAX_VALUE).object() : null;
  }

  /** Returns a member of this object; null if it is absent or this is not an object. */
  public @Nullable JsonValue member(String name) {
    JsonObject object = object();
    return object == null ? null : object.value(name);
  }

  /** Returns an element of this array; null if it is absent or this is not an array. */
  public @Nullable JsonValue element(int index) {
    int i = 0;
    for (JsonValue element : elements()) {
      if (i++ == index) {
        return element;
      }
    }
    return null;
  }

  /** Returns the last element of this array; null if it is empty or this is not an array. */
  public @Nullable JsonValue lastElement() {
    JsonValue last = null;
    for (JsonValue element : elements()) {
      last = element;
    }
    return last;
  }

  /** Returns the elements of this array in order; none if this is not an array. */
  public Iterable<JsonValue> elements() {
    return () -> new Elements(this);
  }

  byte[] bytes() {
    return json;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  /** Iterates over the elements of a valid array, and scans each when it is next. */
  private static final class Elements implements Iterator<JsonValue> {
    private final byte[] json;
    private final JsonScanner scanner;

    /** The position of the next element, or of the closing bracket. */
    private int next;

    Elements(JsonValue value) {
      this.json = value.json;
      this.scanner = new JsonScanner(value.json, value.to, Integer.MAX_VALUE);
      this.next = value.isArray() ? scanner.skipSpace(value.from + 1) : value.to;
    }

    @Override
    public boolean hasNext() {
      byte first = scanner.peek(next);
      return first != 0 && first != ']';
    }

    @Override
    public JsonValue next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      try {
        int start = next;
        int end = scanner.skipValue(start, 0);
        int mark = scanner.skipSpace(end);
        next = scanner.peek(mark) == ',' ? scanner.skipSpace(mark + 1) : mark;
        return new JsonValue(json, start, end);
      } catch (InvalidJson e) {
        throw new IllegalStateException(
            "the array was not validated before its elements were read", e);
      }
    }
  }
}
