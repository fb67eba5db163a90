package io.inferspan.gateway.metrics;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The models that have a tag of their own: the first ones that an engine has answered for. */
final class ModelNames {

  static final String OTHER = "other";

  private final int most;
  private final Set<String> known = ConcurrentHashMap.newKeySet();

  ModelNames(int most) {
    this.most = most;
  }

  /** The tag of a model. */
  String tag(@Nullable String model, Outcome outcome) {
    if (model == null) {
      return OTHER;
    }
    if (known.contains(model)) {
      return model;
    }
    return outcome == Outcome.SUCCESS && admit(model) ? model : OTHER;
  }

  private synchronized boolean admit(String model) {
    return known.contains(model) || (known.size() < most && known.add(model));
  }
}
