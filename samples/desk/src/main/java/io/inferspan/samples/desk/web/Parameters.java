package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.store.Query;
import io.inferspan.samples.desk.store.Status;
import io.vertx.core.MultiMap;
import org.jspecify.annotations.Nullable;

/** Reads the parameters of the API's requests. */
final class Parameters {

  private static final int USUAL_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;
  private static final int MAX_TEXT_LENGTH = 200;

  private final MultiMap given;

  Parameters(MultiMap given) {
    this.given = given;
  }

  /** What is wrong with a parameter, in one sentence. */
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
        limit(USUAL_LIMIT));
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
      // Said below, like a number out of its range.
    }
    throw new WrongParameterException(name + " must be a number, 0 or more.");
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
      // Said below, like a number out of its range.
    }
    throw new WrongParameterException(name + " must be a whole number, 1 or more.");
  }
}
