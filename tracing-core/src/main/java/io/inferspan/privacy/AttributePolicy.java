package io.inferspan.privacy;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.semconv.Attribute;
import io.opentelemetry.api.common.AttributeKey;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Decides by key whether an attribute may be exported, and counts those that may not.
 *
 * <p>Allowed are the keys of the catalogue, the keys of the semantic conventions that contain no
 * content, and prefixes that the user allows. Keys known to contain content are never exported.
 */
public final class AttributePolicy {

  /** Different keys that are counted by name; the rest is counted together. */
  static final int MAX_COUNTED_KEYS = 100;

  private static final String OTHER_KEYS = "other";

  /** Keys of another shape may have come from a request, and are no tag for a meter. */
  private static final Pattern KEY = Pattern.compile("[a-z0-9_.]{1,100}");

  private final Set<String> allowed = new HashSet<>(ConventionKeys.WITHOUT_CONTENT);
  private final Set<String> names = new HashSet<>();
  private final List<String> allowedPrefixes;
  private final Map<String, LongAdder> droppedByKey = new ConcurrentHashMap<>();
  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

  /** A policy that also allows every key with one of {@code allowedPrefixes}. */
  public AttributePolicy(List<String> allowedPrefixes) {
    this.allowedPrefixes = List.copyOf(allowedPrefixes);
    for (SpanType type : SpanCatalog.all()) {
      for (SpanNaming naming : SpanNaming.values()) {
        names.add(type.name(naming));
      }
    }
    for (Attribute<?> attribute : SpanCatalog.attributes()) {
      allowed.add(attribute.key().getKey());
      AttributeKey<?> latest = attribute.latestKey();
      if (latest != null) {
        allowed.add(latest.getKey());
      }
    }
  }

  /**
   * Returns whether the name is that of a catalogue span in any generation, without a parameter.
   */
  boolean isCatalogueName(String name) {
    return names.contains(name);
  }

  /** Returns whether an attribute with this key may be exported. */
  boolean allows(String key) {
    return allowed.contains(key)
        || (allowedPrefixes.stream().anyMatch(key::startsWith)
            && !ConventionKeys.holdsContent(key));
  }

  /** The name of an event, or a word for it where only the event may be known. */
  String eventName(String name) {
    boolean known =
        ConventionKeys.EVENTS.contains(name) || allowedPrefixes.stream().anyMatch(name::startsWith);
    return known ? name : "event";
  }

  /** Counts an attribute that was kept back. */
  void countDropped(String key) {
    LongAdder counter = droppedByKey.get(key);
    if (counter == null) {
      boolean byName = droppedByKey.size() < MAX_COUNTED_KEYS && KEY.matcher(key).matches();
      counter = counterOf(byName ? key : OTHER_KEYS);
    }
    counter.increment();
  }

  private LongAdder counterOf(String name) {
    LongAdder fresh = new LongAdder();
    LongAdder known = droppedByKey.putIfAbsent(name, fresh);
    if (known != null) {
      return known;
    }
    listeners.forEach(listener -> listener.accept(name));
    return fresh;
  }

  /** Calls {@code listener} with every key that is counted, those to come included. */
  public void onCountedKey(Consumer<String> listener) {
    listeners.add(listener);
    droppedByKey.keySet().forEach(listener);
  }

  /** Attributes of {@code key} that were kept back so far. */
  public long dropped(String key) {
    LongAdder counter = droppedByKey.get(key);
    return counter == null ? 0 : counter.sum();
  }

  /** Attributes kept back so far, by key. */
  public Map<String, Long> dropped() {
    Map<String, Long> counts = new TreeMap<>();
    droppedByKey.forEach((key, counter) -> counts.put(key, counter.sum()));
    return counts;
  }
}
