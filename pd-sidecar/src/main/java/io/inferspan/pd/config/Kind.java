package io.inferspan.pd.config;

import java.lang.System.Logger.Level;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The type of a setting: how its text is read and which values are allowed.
 *
 * @param placeholder the placeholder of a value in the help
 * @param allowed a description of the allowed values that follows "must be"
 * @param form reads a text
 * @param bounds returns whether a well-formed value is allowed
 */
record Kind<T>(String placeholder, String allowed, Function<String, T> form, Predicate<T> bounds) {
  static final int MAX_PORT = 65_535;

  static final Kind<String> TEXT = new Kind<>("string", "a text", String::strip);

  /** The name of a file or a folder. */
  static final Kind<String> PATH = new Kind<>("string", "a path", String::strip, Kind::isPath);

  static final Kind<Boolean> ON_OFF = new Kind<>("bool", "true or false", GoWords::bool);

  static final Kind<Integer> PORT = whole(1, MAX_PORT);

  static final Kind<Duration> DURATION =
      new Kind<>(
          "duration",
          "a duration of 0 or more such as 200ms, 1.5s or 1m30s",
          GoWords::duration,
          value -> !value.isNegative());

  /** A log level as in the flags of zap and klog: a word or a verbosity. */
  static final Kind<Level> VERBOSITY =
      new Kind<>(
          "level", "one of trace, debug, info, warn, error, or a verbosity such as 4", Kind::level);

  /** The lowest verbosities at which llm-d's sidecar logs debug and trace messages. */
  private static final int DEBUG = 4;

  private static final int TRACE = 5;

  /** Creates a type that allows all well-formed values. */
  private Kind(String placeholder, String allowed, Function<String, T> form) {
    this(placeholder, allowed, form, _ -> true);
  }

  static Kind<Integer> whole(int min, int max) {
    String up = max == Integer.MAX_VALUE ? ", " + min + " or more" : " from " + min + " to " + max;
    return new Kind<>(
        "int",
        "a whole number" + up,
        text -> Math.clamp(Long.parseLong(text), Integer.MIN_VALUE, Integer.MAX_VALUE),
        value -> min <= value && value <= max);
  }

  /** A whole number with a lower bound. */
  static Kind<Integer> count(int min) {
    return whole(min, Integer.MAX_VALUE);
  }

  static Kind<Long> size(String min, String max) {
    long least = GoWords.bytes(min);
    long most = GoWords.bytes(max);
    return new Kind<>(
        "size",
        "a size from " + min + " to " + max + " such as 65536, 64KiB or 8MiB",
        GoWords::bytes,
        value -> least <= value && value <= most);
  }

  static Kind<String> choice(String... choices) {
    return choice(List.of(choices), List.of());
  }

  /** One of several words. Deprecated words are accepted, but not listed. */
  static Kind<String> choice(List<String> choices, List<String> retired) {
    List<String> named = new ArrayList<>(choices);
    boolean optional = named.remove("");
    return new Kind<>(
        "string",
        "one of " + String.join(", ", named) + (optional ? ", or empty" : ""),
        String::strip,
        value -> choices.contains(value) || retired.contains(value));
  }

  /** A list of words; any words if there are no choices. */
  static Kind<List<String>> words(String... choices) {
    List<String> known = List.of(choices);
    String some = "some of " + String.join(", ", known) + ", separated by commas";
    return new Kind<>(
        "list",
        known.isEmpty() ? "texts separated by commas" : some,
        GoWords::list,
        value -> known.isEmpty() || known.containsAll(value));
  }

  /**
   * Parses a text.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  T read(String text) {
    return form.apply(text);
  }

  boolean allows(T value) {
    return bounds.test(value);
  }

  boolean isBoolean() {
    return placeholder.equals("bool");
  }

  boolean isList() {
    return placeholder.equals("list");
  }

  /** Returns whether a text is a zero that is not allowed. */
  boolean isInvalidZero(String text) {
    return placeholder.equals("int") && text.equals("0") && !allows(read(text));
  }

  private static boolean isPath(String text) {
    try {
      var _ = Path.of(text);
      return true;
    } catch (InvalidPathException _) {
      return false;
    }
  }

  private static Level level(String text) {
    return switch (text) {
      case "trace" -> Level.TRACE;
      case "debug" -> Level.DEBUG;
      case "info" -> Level.INFO;
      case "warn", "warning" -> Level.WARNING;
      case "error", "dpanic", "panic", "fatal" -> Level.ERROR;
      default -> level(Long.parseLong(text));
    };
  }

  private static Level level(long verbosity) {
    if (verbosity < DEBUG) {
      return Level.INFO;
    }
    return verbosity < TRACE ? Level.DEBUG : Level.TRACE;
  }
}
