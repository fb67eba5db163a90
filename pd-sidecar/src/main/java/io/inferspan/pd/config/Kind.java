package io.inferspan.pd.config;

import io.inferspan.pd.config.text.ByteSize;
import io.inferspan.pd.config.text.GoDuration;
import io.inferspan.pd.config.text.GoWords;
import io.inferspan.pd.config.text.TextException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The type of a setting: how its text is read and which values are allowed.
 *
 * @param placeholder stands for a value in the help
 * @param allowed the allowed values, in words that follow "must be"
 * @param form reads a text
 * @param bounds whether a value that has the form is allowed
 * @param choices the words to choose from; empty for any
 */
record Kind(
    String placeholder, String allowed, Form form, Predicate<Object> bounds, List<String> choices) {

  static final int MAX_PORT = 65_535;

  /** Any text. */
  static final Kind TEXT = unbounded("string", "a text", String::strip);

  /** A boolean. */
  static final Kind ON_OFF = unbounded("bool", "true or false", GoWords::bool);

  /** A duration. */
  static final Kind DURATION =
      bounded(
          "duration",
          "a duration of 0 or more such as 200ms, 1.5s or 1m30s",
          GoDuration::parse,
          value -> !((Duration) value).isNegative());

  /** A log level, as the flags of zap and klog have it: a word or a verbosity. */
  static final Kind VERBOSITY =
      unbounded(
          "level", "one of trace, debug, info, warn, error, or a verbosity such as 4", Kind::level);

  /** The verbosities from which on llm-d's sidecar logs at debug and at trace. */
  private static final int DEBUG = 4;

  private static final int TRACE = 5;

  /** Reads the value of a text. */
  interface Form {
    Object read(String text) throws TextException;
  }

  private static Kind unbounded(String placeholder, String allowed, Form form) {
    return bounded(placeholder, allowed, form, _ -> true);
  }

  private static Kind bounded(
      String placeholder, String allowed, Form form, Predicate<Object> bounds) {
    return new Kind(placeholder, allowed, form, bounds, List.of());
  }

  /** A whole number. */
  static Kind whole(long min, long max) {
    String up = max == Integer.MAX_VALUE ? ", " + min + " or more" : " from " + min + " to " + max;
    return bounded("int", "a whole number" + up, GoWords::whole, within(min, max));
  }

  /** A number of bytes. */
  static Kind size(String min, String max) {
    try {
      return bounded(
          "size",
          "a size from " + min + " to " + max + " such as 65536, 64KiB or 8MiB",
          ByteSize::parse,
          within(ByteSize.parse(min), ByteSize.parse(max)));
    } catch (TextException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Predicate<Object> within(long min, long max) {
    return value -> min <= (Long) value && (Long) value <= max;
  }

  /** One of some words; a retired one is read, but not named. */
  static Kind choice(List<String> choices, List<String> retired) {
    List<String> named = new ArrayList<>(choices);
    boolean optional = named.remove("");
    return new Kind(
        "string",
        "one of " + String.join(", ", named) + (optional ? ", or empty" : ""),
        String::strip,
        value -> choices.contains((String) value) || retired.contains((String) value),
        choices);
  }

  /** A list of words, any if there are no choices. */
  static Kind words(List<String> choices) {
    String some = "some of " + String.join(", ", choices) + ", separated by commas";
    return new Kind(
        "list",
        choices.isEmpty() ? "texts separated by commas" : some,
        text -> GoWords.list(text).toArray(String[]::new),
        value -> choices.isEmpty() || choices.containsAll(List.of((String[]) value)),
        choices);
  }

  Object read(String text) throws TextException {
    return form.read(text);
  }

  boolean allows(Object value) {
    return bounds.test(value);
  }

  boolean isBoolean() {
    return equals(ON_OFF);
  }

  boolean isList() {
    return placeholder.equals("list");
  }

  boolean isNumber() {
    return placeholder.equals("int");
  }

  private static Level level(String text) throws TextException {
    return switch (text) {
      case "trace" -> Level.TRACE;
      case "debug" -> Level.DEBUG;
      case "info" -> Level.INFO;
      case "warn", "warning" -> Level.WARNING;
      case "error", "dpanic", "panic", "fatal" -> Level.ERROR;
      default -> level(GoWords.whole(text));
    };
  }

  private static Level level(long verbosity) {
    if (verbosity < DEBUG) {
      return Level.INFO;
    }
    return verbosity < TRACE ? Level.DEBUG : Level.TRACE;
  }
}
