package io.inferspan.samples.desk.store;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The searchable names of a request. Requests with equal names share one object, so that a search
 * compares it once.
 */
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

  /** Returns whether a name contains the text, ignoring case; the text must be in lower case. */
  boolean contain(String wanted) {
    return contains(model, wanted)
        || contains(request, wanted)
        || contains(errorType, wanted)
        || pods.stream().anyMatch(pod -> contains(pod, wanted))
        || services.stream().anyMatch(service -> contains(service, wanted));
  }

  private static boolean contains(@Nullable String name, String wanted) {
    return name != null && name.toLowerCase(Locale.ROOT).contains(wanted);
  }
}
