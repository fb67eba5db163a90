package io.inferspan.samples.desk.store;

import java.util.Comparator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The sort orders of the request list. Requests without a value come last. */
public final class Order {

  /** Latest change first: the default order of the list. */
  public static final Comparator<Summary> CHANGES =
      Comparator.comparingLong(Summary::seq).reversed();

  private Order() {}

  /** Returns the order with this name, such as {@code ttft} or {@code ttft:asc}, or null. */
  public static @Nullable Comparator<Summary> named(String name) {
    boolean ascending = name.endsWith(":asc");
    return switch (ascending ? name.substring(0, name.length() - ":asc".length()) : name) {
      case "" -> ascending ? null : CHANGES;
      case "time" -> by(one -> one.head().startNanos(), ascending);
      case "name" -> by(one -> one.head().name(), ascending);
      case "ttft" -> by(one -> one.outcome().ttftMillis(), ascending);
      case "took" -> by(one -> one.head().durationMillis(), ascending);
      case "kv" -> by(Summary::kvHitRatio, ascending);
      case "tokens" -> by(one -> one.outcome().tokens(), ascending);
      case "spans" -> by(one -> one.counts().spans(), ascending);
      default -> null;
    };
  }

  private static <V extends Comparable<V>> Comparator<Summary> by(
      Function<Summary, @Nullable V> value, boolean ascending) {
    Comparator<V> order = ascending ? Comparator.naturalOrder() : Comparator.reverseOrder();
    return Comparator.comparing(value, Comparator.nullsLast(order)).thenComparing(CHANGES);
  }
}
