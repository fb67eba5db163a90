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
 * <p>It allows the keys of the catalogue, the keys of the semantic conventions that contain no
 * content, and prefixes that the user allows. An allowed prefix does not include keys that are
 * known to contain content.
 */
public final class AttributePolicy {

  /** The maximum number of keys that are counted separately; others are counted together. */
  static final int MAX_COUNTED_KEYS = 100;

  private static final String OTHER_KEYS = "other";

  /** The form of keys that become meter tags; other keys may contain request data. */
  private static final Pattern KEY = Pattern.compile("[a-z0-9_.]{1,100}");

  private final Set<String> allowed = new HashSet<>(ConventionKeys.WITHOUT_CONTENT);
  private final Set<String> names = new HashSet<>();
  private final List<String> allowedPrefixes;
  private final Map<String, LongAdder> droppedByKey = new ConcurrentHashMap<>();
  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

  /** Creates a policy that also allows every key with one of {@code allowedPrefixes}. */
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
   * Returns whether a span in the catalogue has this name, without a parameter, in any naming
   * scheme.
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

  /** Returns the name of an event, or a general name if the name must not be exported. */
  String eventName(String name) {
    boolean known =
        ConventionKeys.EVENTS.contains(name) || allowedPrefixes.stream().anyMatch(name::startsWith);
    return known ? name : "event";
  }

  /** Counts an attribute that was not exported. */
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

  /** Calls {@code listener} with every counted key, now and in the future. */
  public void onCountedKey(Consumer<String> listener) {
    listeners.add(listener);
    droppedByKey.keySet().forEach(listener);
  }

  /** Returns how many attributes with this key were not exported. */
  public long dropped(String key) {
    LongAdder counter = droppedByKey.get(key);
    return counter == null ? 0 : counter.sum();
  }

  /** Returns how many attributes were not exported, by key. */
  public Map<String, Long> dropped() {
    Map<String, Long> counts = new TreeMap<>();
    droppedByKey.forEach((key, counter) -> counts.put(key, counter.sum()));
    return counts;
  }
}
