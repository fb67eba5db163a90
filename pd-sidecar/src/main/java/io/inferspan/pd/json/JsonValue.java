package io.inferspan.pd.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A value in place in its original bytes; only what is read is copied. */
public final class JsonValue {
  /**
   * Longer numbers are not counts of anything, and turning digits into a number costs more than
   * linear time.
   */
  private static final int MAX_NUMBER_LENGTH = 32;

  /** The bytes of {@code \\u0041}. */
  private static final int MAX_ESCAPED_LENGTH = 6;

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

  public JsonKind kind() {
    return JsonKind.startingWith(json[from]);
  }

  public boolean isTrue() {
    return json[from] == 't';
  }

  public boolean isNull() {
    return json[from] == 'n';
  }

  /** The whole number this is, also when written as {@code 50.0} or {@code 5e1}. */
  public long longValue(long orElse) {
    if (kind() != JsonKind.NUMBER || length() > MAX_NUMBER_LENGTH) {
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

  /** The text of a string; null for anything else. */
  public @Nullable String text() {
    return kind() == JsonKind.STRING ? JsonText.decode(json, from + 1, to - 1) : null;
  }

  /** Returns whether this is a string equal to this text. */
  public boolean isText(String expected) {
    boolean canBe = length() <= MAX_ESCAPED_LENGTH * expected.length() + 2;
    return canBe && expected.equals(text());
  }

  /** Returns the length of the value in its original form. */
  public int length() {
    return to - from;
  }

  /** The bytes as they stand. */
  public byte[] copy() {
    return Arrays.copyOfRange(json, from, to);
  }

  /** The object this is, with the members one wants to know of it; null if it is something else. */
  public @Nullable JsonObject object(JsonShape wanted) {
    try {
      return kind() == JsonKind.OBJECT
          ? JsonObject.scan(json, from, to, wanted, Integer.MAX_VALUE)
          : null;
    } catch (InvalidJson _) {
      return null; // too many members: the rest was valid before
    }
  }

  /** A member of the object this is; null if there is none or this is something else. */
  public @Nullable JsonValue member(String name) {
    JsonObject object = object(JsonShape.of(name));
    return object == null ? null : object.value(name);
  }

  /** An element of the array this is; null if there is none or this is something else. */
  public @Nullable JsonValue element(int index) {
    JsonElements elements = elements();
    JsonValue element = elements.next();
    for (int i = 0; i < index && element != null; i++) {
      element = elements.next();
    }
    return element;
  }

  /** The last element of the array this is; null if there is none or this is something else. */
  public @Nullable JsonValue lastElement() {
    JsonElements elements = elements();
    JsonValue last = null;
    for (JsonValue next = elements.next(); next != null; next = elements.next()) {
      last = next;
    }
    return last;
  }

  /** Visits the elements of the array this is, in order; none if this is something else. */
  public void forEachElement(Consumer<JsonValue> visitor) {
    JsonElements elements = elements();
    for (JsonValue next = elements.next(); next != null; next = elements.next()) {
      visitor.accept(next);
    }
  }

  private JsonElements elements() {
    return new JsonElements(json, kind() == JsonKind.ARRAY ? from : to, to);
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
}
