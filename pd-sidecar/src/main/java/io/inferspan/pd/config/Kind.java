package io.inferspan.pd.config;

import io.inferspan.pd.config.text.ByteSize;
import io.inferspan.pd.config.text.GoDuration;
import io.inferspan.pd.config.text.GoWords;
import io.inferspan.pd.config.text.TextException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The type of a setting: how its text is read and which values are allowed. */
sealed interface Kind {

  int MAX_PORT = 65_535;

  /** The value of {@code text}, if it has the form. */
  Object read(String text) throws TextException;

  /** Whether a value that has the form is within the bounds. */
  default boolean allows(Object value) {
    return true;
  }

  /** The allowed values, in words that follow "must be". */
  String allowed();

  /** What stands for a value in the help. */
  String placeholder();

  static Kind port() {
    return new Whole(1, MAX_PORT);
  }

  static Kind count(long min) {
    return new Whole(min, Integer.MAX_VALUE);
  }

  /** Any text. */
  record Text() implements Kind {
    @Override
    public String read(String text) {
      return text.strip();
    }

    @Override
    public String allowed() {
      return "a text";
    }

    @Override
    public String placeholder() {
      return "string";
    }
  }

  /** A boolean. */
  record OnOff() implements Kind {
    @Override
    public Boolean read(String text) throws TextException {
      return GoWords.bool(text);
    }

    @Override
    public String allowed() {
      return "true or false";
    }

    @Override
    public String placeholder() {
      return "bool";
    }
  }

  /** A whole number. */
  record Whole(long min, long max) implements Kind {
    @Override
    public Long read(String text) throws TextException {
      return GoWords.whole(text);
    }

    @Override
    public boolean allows(Object value) {
      long number = (Long) value;
      return min <= number && number <= max;
    }

    @Override
    public String allowed() {
      String up =
          max == Integer.MAX_VALUE ? ", " + min + " or more" : " from " + min + " to " + max;
      return "a whole number" + up;
    }

    @Override
    public String placeholder() {
      return "int";
    }
  }

  /** A duration. */
  record Span() implements Kind {
    @Override
    public Duration read(String text) throws TextException {
      return GoDuration.parse(text);
    }

    @Override
    public boolean allows(Object value) {
      return !((Duration) value).isNegative();
    }

    @Override
    public String allowed() {
      return "a duration of 0 or more such as 200ms, 1.5s or 1m30s";
    }

    @Override
    public String placeholder() {
      return "duration";
    }
  }

  /** A number of bytes. */
  record Size(String min, String max) implements Kind {
    @Override
    public Long read(String text) throws TextException {
      return ByteSize.parse(text);
    }

    @Override
    public boolean allows(Object value) {
      long bytes = (Long) value;
      try {
        return read(min) <= bytes && bytes <= read(max);
      } catch (TextException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public String allowed() {
      return "a size from " + min + " to " + max + " such as 65536, 64KiB or 8MiB";
    }

    @Override
    public String placeholder() {
      return "size";
    }
  }

  /** One of some words; a retired one is read, but no longer told. */
  record Choice(List<String> choices, List<String> retired) implements Kind {
    Choice(String... choices) {
      this(List.of(choices), List.of());
    }

    @Override
    public String read(String text) {
      return text.strip();
    }

    @Override
    public boolean allows(Object value) {
      return choices.contains((String) value) || retired.contains((String) value);
    }

    @Override
    public String allowed() {
      List<String> told = new ArrayList<>(choices);
      boolean optional = told.remove("");
      return "one of " + String.join(", ", told) + (optional ? ", or empty" : "");
    }

    @Override
    public String placeholder() {
      return "string";
    }
  }

  /** A list of words, any if there are no choices. */
  record Words(List<String> choices) implements Kind {
    Words(String... choices) {
      this(List.of(choices));
    }

    @Override
    public String[] read(String text) {
      return GoWords.list(text).toArray(String[]::new);
    }

    @Override
    public boolean allows(Object value) {
      return choices.isEmpty() || choices.containsAll(List.of((String[]) value));
    }

    @Override
    public String allowed() {
      return choices.isEmpty()
          ? "texts separated by commas"
          : "some of " + String.join(", ", choices) + ", separated by commas";
    }

    @Override
    public String placeholder() {
      return "list";
    }
  }

  /** A log level, as the flags of zap and klog have it: a word or a verbosity. */
  record Verbosity() implements Kind {

    /** The verbosities from which on llm-d's sidecar logs at debug and at trace. */
    private static final int DEBUG = 4;

    private static final int TRACE = 5;

    @Override
    public Level read(String text) throws TextException {
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

    @Override
    public String allowed() {
      return "one of trace, debug, info, warn, error, or a verbosity such as 4";
    }

    @Override
    public String placeholder() {
      return "level";
    }
  }
}
