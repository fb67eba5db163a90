package io.inferspan.recording;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Attributes as keys and values in turn, in the order in which they were set.
 *
 * <p>A span has few attributes, so that looking through an array beats hashing; the spans of the
 * catalogue set each key once, through the same constant.
 */
final class FlatAttributes implements Attributes {

  private static final int INITIAL_SLOTS = 16;

  private final int maxAttributes;
  private final int maxValueChars;
  private Object[] slots = new Object[INITIAL_SLOTS];
  private int used;
  private int total;

  FlatAttributes(int maxAttributes, int maxValueChars) {
    this.maxAttributes = maxAttributes;
    this.maxValueChars = maxValueChars;
  }

  /** Sets a value; a new key past the bound is only counted. */
  <T> void put(AttributeKey<T> key, T value) {
    Object kept = bounded(value);
    int slot = slotOf(key);
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
      slots = Arrays.copyOf(slots, 2 * used);
    }
    slots[used] = key;
    slots[used + 1] = kept;
    used += 2;
  }

  /** The value within the bound; a list is copied, because its owner may go on writing to it. */
  private Object bounded(Object value) {
    if (value instanceof String text && text.length() > maxValueChars) {
      return text.substring(0, maxValueChars);
    }
    if (value instanceof List<?> list) {
      List<Object> copy = new ArrayList<>(list.size());
      list.forEach(element -> copy.add(element == null ? "" : bounded(element)));
      return Collections.unmodifiableList(copy);
    }
    return value;
  }

  /** Names are unique, whatever the type, as OTLP has it. Strings keep their hash, once asked. */
  private int slotOf(AttributeKey<?> key) {
    String name = key.getKey();
    int hash = name.hashCode();
    for (int i = 0; i < used; i += 2) {
      String other = ((AttributeKey<?>) slots[i]).getKey();
      if (other.hashCode() == hash && other.equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /** How many different keys were set, those past the bound included. */
  int total() {
    return total;
  }

  /** The same attributes, which stay as they are now. */
  Attributes copy() {
    return toBuilder().build();
  }

  @Override
  @SuppressWarnings("unchecked") // put takes a key and a value of the same type
  public <T> @Nullable T get(AttributeKey<T> key) {
    int slot = slotOf(key);
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
  public String toString() {
    return asMap().toString();
  }
}
