package io.inferspan.epp.plugins.score;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that evicts the least recently used entries; not thread-safe.
 *
 * @param <K> type of its keys
 * @param <V> type of its values
 */
final class LruMap<K, V> extends LinkedHashMap<K, V> {

  private static final long serialVersionUID = 1;
  private static final float LOAD_FACTOR = 0.75f;

  private final int capacity;

  LruMap(int capacity) {
    super(16, LOAD_FACTOR, true);
    this.capacity = capacity;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > capacity;
  }
}
