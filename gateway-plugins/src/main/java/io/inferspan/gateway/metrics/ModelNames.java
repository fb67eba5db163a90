package io.inferspan.gateway.metrics;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The models that have a tag of their own: the first ones that were served. */
public final class ModelNames {

  static final String OTHER = "other";

  private static final int MAX_CHARS = 128;

  private final int most;
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  /** So many models have one; all others are {@code other}. */
  public ModelNames(int most) {
    this.most = most;
  }

  /**
   * The tag of a model.
   *
   * @param served whether it is one that somebody serves, and not only a name that a client sent
   */
  public String tag(@Nullable String model, boolean served) {
    if (model == null || model.isEmpty() || model.length() > MAX_CHARS) {
      return OTHER;
    }
    if (known.contains(model)) {
      return model;
    }
    return served && admit(model) ? model : OTHER;
  }

  /** Whether this one was served. */
  public boolean knows(String model) {
    return known.contains(model);
  }

  private synchronized boolean admit(String model) {
    return known.contains(model) || (known.size() < most && known.add(model));
  }
}
