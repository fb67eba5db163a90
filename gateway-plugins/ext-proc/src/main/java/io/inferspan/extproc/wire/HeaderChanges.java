package io.inferspan.extproc.wire;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Changes to headers: removals, then values to set.
 *
 * <p>Hop-by-hop headers and those that Envoy itself routes by are not changed: Envoy rejects such
 * changes, and some versions reject the whole response with them.
 */
public final class HeaderChanges {

  private static final Set<String> OF_THE_CONNECTION =
      Set.of(
          "connection",
          "host",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private final Map<String, String> set = new LinkedHashMap<>();
  private final Set<String> removed = new LinkedHashSet<>();

  /** No change so far. */
  public HeaderChanges() {}

  /** Replaces all values of a header. */
  public HeaderChanges set(String name, String value) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (mayChange(lower)) {
      removed.remove(lower);
      set.put(lower, value);
    }
    return this;
  }

  /** Removes all values of a header. */
  public HeaderChanges remove(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (mayChange(lower)) {
      set.remove(lower);
      removed.add(lower);
    }
    return this;
  }

  private static boolean mayChange(String lower) {
    return !lower.isEmpty() && lower.charAt(0) != ':' && !OF_THE_CONNECTION.contains(lower);
  }

  Map<String, String> toSet() {
    return set;
  }

  Set<String> toRemove() {
    return removed;
  }

  boolean isEmpty() {
    return set.isEmpty() && removed.isEmpty();
  }
}
