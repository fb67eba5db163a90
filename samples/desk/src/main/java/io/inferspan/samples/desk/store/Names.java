package io.inferspan.samples.desk.store;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The names in a line of the list. Many requests share one of these, so that it is searched once.
 */
record Names(
    @Nullable String model, String request, List<String> services, @Nullable String errorType) {

  static Names of(Summary summary) {
    return new Names(
        summary.model(),
        summary.head().name(),
        summary.head().services(),
        summary.outcome().errorType());
  }

  /** Whether one of them has the text, which is in lower case, as a part. */
  boolean hold(String wanted) {
    return holds(model, wanted)
        || holds(request, wanted)
        || holds(errorType, wanted)
        || services.stream().anyMatch(service -> holds(service, wanted));
  }

  private static boolean holds(@Nullable String name, String wanted) {
    return name != null && name.toLowerCase(Locale.ROOT).contains(wanted);
  }
}
