package io.inferspan.values;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of meter tags for names that clients choose, such as models and tenants. A name
 * gets a tag of its own with its first successful request, until the limit is reached; all other
 * names share the tag {@code other}.
 */
public final class BoundedNames {

  /** The tag of all names without a tag of their own. */
  public static final String OTHER = "other";

  private static final int MAX_CHARS = 128;

  private final int maxNames;
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  /** Creates an instance that gives at most {@code maxNames} names a tag of their own. */
  public BoundedNames(int maxNames) {
    this.maxNames = maxNames;
  }

  /**
   * Returns the tag of a name.
   *
   * @param served whether the request succeeded; only then can a new name get its own tag
   */
  public String tag(@Nullable String name, boolean served) {
    if (name == null || name.isEmpty() || name.length() > MAX_CHARS) {
      return OTHER;
    }
    if (known.contains(name)) {
      return name;
    }
    return served && admit(name) ? name : OTHER;
  }

  /** Returns whether the name has a tag of its own. */
  public boolean knows(String name) {
    return known.contains(name);
  }

  private synchronized boolean admit(String name) {
    return known.contains(name) || (known.size() < maxNames && known.add(name));
  }
}
