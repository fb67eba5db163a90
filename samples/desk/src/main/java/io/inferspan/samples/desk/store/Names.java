package io.inferspan.samples.desk.store;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The names of a request. Many requests share one object, which a search compares once. */
record Names(
    @Nullable String model,
    String request,
    List<String> services,
    List<String> pods,
    @Nullable String errorType) {

  static Names of(Summary summary) {
    return new Names(
        summary.model(),
        summary.head().name(),
        summary.head().services(),
        pods(summary.decision()),
        summary.outcome().errorType());
  }

  private static List<String> pods(@Nullable Decision decision) {
    return decision == null
        ? List.of()
        : Stream.of(decision.prefillPod(), decision.decodePod()).filter(Objects::nonNull).toList();
  }

  /** Returns whether a name contains the text, which is in lower case. */
  boolean hold(String wanted) {
    return holds(model, wanted)
        || holds(request, wanted)
        || holds(errorType, wanted)
        || pods.stream().anyMatch(pod -> holds(pod, wanted))
        || services.stream().anyMatch(service -> holds(service, wanted));
  }

  private static boolean holds(@Nullable String name, String wanted) {
    return name != null && name.toLowerCase(Locale.ROOT).contains(wanted);
  }
}
