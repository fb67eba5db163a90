package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.store.Latency;
import io.inferspan.samples.desk.store.Order;
import io.inferspan.samples.desk.store.Query;
import io.inferspan.samples.desk.store.Status;
import io.inferspan.samples.desk.store.Summary;
import io.vertx.core.MultiMap;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** Reads and validates the query parameters of an API request. */
final class Parameters {

  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;
  private static final int MAX_TEXT_LENGTH = 200;

  private final MultiMap given;

  Parameters(MultiMap given) {
    this.given = given;
  }

  /** Thrown for an invalid parameter; the message is one sentence for the user. */
  static final class WrongParameterException extends Exception {
    WrongParameterException(String sentence) {
      super(sentence, null, false, false);
    }
  }

  Query query() throws WrongParameterException {
    return new Query(
        text("q"),
        status(),
        emptyAsNull(text("model")),
        number("minMs"),
        number("minTtftMs"),
        whole("before", Long.MAX_VALUE, Long.MAX_VALUE),
        limit(DEFAULT_LIMIT),
        order());
  }

  int limit(int usual) throws WrongParameterException {
    return (int) whole("limit", usual, MAX_LIMIT);
  }

  private String text(String name) throws WrongParameterException {
    String value = given.get(name);
    if (value == null) {
      return "";
    }
    if (value.length() > MAX_TEXT_LENGTH) {
      throw new WrongParameterException(
          name + " is longer than " + MAX_TEXT_LENGTH + " characters.");
    }
    return value.strip();
  }

  private static @Nullable String emptyAsNull(String text) {
    return text.isEmpty() ? null : text;
  }

  private @Nullable Status status() throws WrongParameterException {
    String label = text("status");
    Status status = Status.named(label);
    if (status == null && !label.isEmpty()) {
      throw new WrongParameterException("status must be ok, error, open or broken.");
    }
    return status;
  }

  private Comparator<Summary> order() throws WrongParameterException {
    Comparator<Summary> order = Order.named(text("sort"));
    if (order == null) {
      throw new WrongParameterException(
          "sort must be time, name, ttft, took, kv, tokens or spans; :asc sorts in ascending order.");
    }
    return order;
  }

  Latency.By groupBy() throws WrongParameterException {
    Latency.By by = Latency.By.named(text("by"));
    if (by == null) {
      throw new WrongParameterException("by must be model, pod or route.");
    }
    return by;
  }

  /** Returns the name of a pod; empty for all pods. */
  String pod() throws WrongParameterException {
    return text("pod");
  }

  /** Returns the id of a trace or a request. */
  String id() throws WrongParameterException {
    String id = text("id");
    if (id.isEmpty()) {
      throw new WrongParameterException("id must be a trace id or a request id.");
    }
    return id;
  }

  /** Returns the start of the time range in milliseconds since 1970; 0 for no limit. */
  double sinceMillis() throws WrongParameterException {
    return number("since");
  }

  private double number(String name) throws WrongParameterException {
    String value = text(name);
    if (value.isEmpty()) {
      return 0;
    }
    try {
      double number = Double.parseDouble(value);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is out of range.
    }
    throw new WrongParameterException(name + " must be a number of at least 0.");
  }

  private long whole(String name, long usual, long most) throws WrongParameterException {
    String value = text(name);
    if (value.isEmpty()) {
      return usual;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= 1) {
        return Math.min(number, most);
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is out of range.
    }
    throw new WrongParameterException(name + " must be an integer of at least 1.");
  }
}
