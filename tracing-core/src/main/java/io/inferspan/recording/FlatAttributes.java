package io.inferspan.recording;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.common.ValueType;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Attributes in an array of alternating keys and values, in insertion order.
 *
 * <p>A span has few attributes, so searching an array is faster than hashing.
 */
final class FlatAttributes implements Attributes {

  /** The minimum growth of the array. */
  private static final int MIN_GROWTH = 8;

  private final int maxAttributes;
  private final int maxValueChars;
  private Object[] slots;
  private int used;
  private int total;

  /** A Bloom filter of the names, with one bit per name. */
  private long bloom;

  FlatAttributes(int maxAttributes, int maxValueChars, int capacity) {
    this.maxAttributes = maxAttributes;
    this.maxValueChars = maxValueChars;
    this.slots = new Object[2 * capacity];
  }

  /** Sets a value; a new key beyond the limit is only counted. */
  <T> void put(AttributeKey<T> key, T value) {
    Object kept = bounded(value);
    String name = key.getKey();
    long bit = 1L << name.hashCode();
    int slot = (bloom & bit) == 0 ? -1 : slotOf(name);
    if (slot >= 0) {
      slots[slot] = key;
      slots[slot + 1] = kept;
      return;
    }
    total++;
    if (used / 2 >= maxAttributes) {
      return;
    }
    if (used == slots.length) {
      slots = Arrays.copyOf(slots, used + Math.max(used, MIN_GROWTH));
    }
    bloom |= bit;
    slots[used] = key;
    slots[used + 1] = kept;
    used += 2;
  }

  @SuppressWarnings("unchecked") // the key and the value come from the same pair
  void putAll(Attributes given) {
    given.forEach((key, value) -> put((AttributeKey<Object>) key, value));
  }

  /**
   * Returns the value, truncated if necessary; a list is copied, because its owner may change it.
   */
  private Object bounded(Object value) {
    if (value instanceof String text) {
      return text.length() > maxValueChars ? text.substring(0, maxValueChars) : text;
    }
    // Checked before lists, because that check takes longer.
    if (value instanceof Number || value instanceof Boolean) {
      return value;
    }
    if (value instanceof Value<?> complex) {
      return maxValueChars == Integer.MAX_VALUE ? complex : bounded(complex);
    }
    if (!(value instanceof List<?> list)) {
      return value;
    }
    Object[] copy = list.toArray();
    for (int i = 0; i < copy.length; i++) {
      copy[i] = copy[i] == null ? "" : bounded(copy[i]);
    }
    return Collections.unmodifiableList(Arrays.asList(copy));
  }

  @SuppressWarnings("unchecked") // checked by the value's type
  private Value<?> bounded(Value<?> value) {
    Object content = value.getValue();
    if (content instanceof String text) {
      return Value.of((String) bounded(text));
    }
    if (content instanceof ByteBuffer bytes) {
      byte[] kept = new byte[Math.min(bytes.remaining(), maxValueChars)];
      bytes.get(kept);
      return Value.of(kept);
    }
    if (value.getType() == ValueType.ARRAY) {
      return Value.of(((List<Value<?>>) content).stream().<Value<?>>map(this::bounded).toList());
    }
    if (value.getType() == ValueType.KEY_VALUE_LIST) {
      return Value.of(
          ((List<KeyValue>) content)
              .stream()
                  .map(pair -> KeyValue.of(pair.getKey(), bounded(pair.getValue())))
                  .toArray(KeyValue[]::new));
    }
    return value;
  }

  /**
   * Finds a name's slot. Names are unique regardless of type, as in OTLP. Strings cache their hash.
   */
  private int slotOf(String name) {
    int hash = name.hashCode();
    for (int i = 0; i < used; i += 2) {
      String other = ((AttributeKey<?>) slots[i]).getKey();
      if (other.hashCode() == hash && other.equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the number of distinct keys set, including those beyond the limit. */
  int total() {
    return total;
  }

  /** Returns an independent copy. */
  FlatAttributes copy() {
    FlatAttributes copy = new FlatAttributes(maxAttributes, maxValueChars, 0);
    copy.slots = Arrays.copyOf(slots, used);
    copy.used = used;
    copy.total = total;
    copy.bloom = bloom;
    return copy;
  }

  @Override
  @SuppressWarnings("unchecked") // put takes a key and a value of the same type
  public <T> @Nullable T get(AttributeKey<T> key) {
    int slot = slotOf(key.getKey());
    return slot < 0 || !slots[slot].equals(key) ? null : (T) slots[slot + 1];
  }

  @Override
  public void forEach(BiConsumer<? super AttributeKey<?>, ? super Object> consumer) {
    for (int i = 0; i < used; i += 2) {
      consumer.accept((AttributeKey<?>) slots[i], slots[i + 1]);
    }
  }

  @Override
  public int size() {
    return used / 2;
  }

  @Override
  public boolean isEmpty() {
    return used == 0;
  }

  @Override
  public Map<AttributeKey<?>, Object> asMap() {
    Map<AttributeKey<?>, Object> map = new LinkedHashMap<>();
    forEach(map::put);
    return Collections.unmodifiableMap(map);
  }

  @Override
  public AttributesBuilder toBuilder() {
    return Attributes.builder().putAll(this);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Attributes that && asMap().equals(that.asMap());
  }

  @Override
  public int hashCode() {
    return asMap().hashCode();
  }

  @Override
  public String toString() {
    return asMap().toString();
  }
}
