package io.inferspan.values;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Names chosen by clients, such as models and tenants, as tags of meters: the first names that were
 * served have a tag, and all others are {@code other}.
 */
public final class BoundedNames {

  /** The tag of all names without their own. */
  public static final String OTHER = "other";

  private static final int MAX_CHARS = 128;

  private final int most;
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  /** At most {@code most} names with a tag. */
  public BoundedNames(int most) {
    this.most = most;
  }

  /**
   * The tag of a name.
   *
   * @param served whether the request succeeded, so that the name is more than a client's word
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

  /** Returns whether the name has a tag. */
  public boolean knows(String name) {
    return known.contains(name);
  }

  private synchronized boolean admit(String name) {
    return known.contains(name) || (known.size() < most && known.add(name));
  }
}
