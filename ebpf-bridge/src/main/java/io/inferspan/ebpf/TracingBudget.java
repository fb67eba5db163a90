package io.inferspan.ebpf;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A limit on the cost of tracing.
 *
 * @param amount the limit, in {@code unit}
 * @param unit the limited resource and its unit of measurement
 */
public record TracingBudget(double amount, Unit unit) {

  private static final Pattern FORM =
      Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,3})?)(%|%node|/s|[kM]B/s)");

  /** The limited resource. */
  public enum Unit {
    /** CPU time, in percent of one core. */
    CORE("%"),
    /** CPU time, in percent of all cores. */
    NODE("%node"),
    /** Reported events per second. */
    EVENTS("/s"),
    /** Bytes of reported events per second. */
    BYTES("B/s");

    private final String suffix;

    Unit(String suffix) {
      this.suffix = suffix;
    }
  }

  /** Checks the amount. */
  public TracingBudget {
    double most =
        switch (unit) {
          case CORE, NODE -> 100;
          case EVENTS -> 1e9;
          case BYTES -> 1e12;
        };
    if (!(amount > 0 && amount <= most)) {
      throw new IllegalArgumentException(
          "the budget is %s%s, but must be above 0 and at most %.0f%s"
              .formatted(amount, unit.suffix, most, unit.suffix));
    }
  }

  /**
   * Parses a budget such as {@code 1%} (of a core), {@code 1%node} (of all cores), {@code 20000/s}
   * (events), or {@code 500kB/s} or {@code 2MB/s} (bytes of events).
   */
  public static TracingBudget parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is neither a share such as 1% (of a core) or 1%node, nor a rate such as 20000/s"
              + " or 500kB/s");
    }
    double amount = Double.parseDouble(form.group(1));
    return switch (form.group(2)) {
      case "%" -> new TracingBudget(amount, Unit.CORE);
      case "%node" -> new TracingBudget(amount, Unit.NODE);
      case "kB/s" -> new TracingBudget(1e3 * amount, Unit.BYTES);
      case "MB/s" -> new TracingBudget(1e6 * amount, Unit.BYTES);
      default -> new TracingBudget(amount, Unit.EVENTS);
    };
  }
}
