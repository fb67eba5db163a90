package io.inferspan.pd.config;

import io.inferspan.pd.config.text.Quoted;
import java.util.Iterator;
import java.util.List;

/**
 * The command line, in the grammar of Go's pflag.
 *
 * <p>It accepts {@code --flag=value} and {@code --flag value}. A boolean never takes the next
 * argument, and {@code -v} is the only short flag with a value. Other arguments are ignored, as in
 * llm-d's sidecar.
 */
final class CommandLine {

  /** The kinds of invocation. */
  enum Asked {
    RUN,
    HELP,
    VERSION
  }

  private final Iterator<String> words;
  private final Notes notes;
  private final Layer layer = new Layer();

  CommandLine(List<String> words, Notes notes) {
    this.words = words.iterator();
    this.notes = notes;
  }

  /** Returns the values of the flags, after {@link #read}. */
  Layer layer() {
    return layer;
  }

  Asked read() throws ConfigException {
    Asked asked = Asked.RUN;
    while (asked == Asked.RUN && words.hasNext()) {
      String word = words.next();
      if (word.equals("--")) {
        words.forEachRemaining(notes::stray);
      } else if (word.startsWith("--")) {
        asked = longFlag(word);
      } else if (word.startsWith("-") && word.length() > 1) {
        asked = shortFlag(word);
      } else {
        notes.stray(word);
      }
    }
    return asked;
  }

  private Asked longFlag(String word) throws ConfigException {
    int equals = word.indexOf('=');
    String name = equals < 0 ? word.substring(2) : word.substring(2, equals);
    return switch (name) {
      case "help" -> Asked.HELP;
      case "version" -> Asked.VERSION;
      default -> {
        Setting<?> setting = Settings.named(name);
        if (setting == null) {
          throw unknown("--" + name);
        }
        take(setting, name, equals < 0 ? next(setting, word) : word.substring(equals + 1));
        yield Asked.RUN;
      }
    };
  }

  private Asked shortFlag(String word) throws ConfigException {
    if (word.charAt(1) == 'h') {
      return Asked.HELP;
    }
    if (word.charAt(1) != 'v') {
      throw unknown(word);
    }
    String value =
        switch (word.length()) {
          case 2 -> next(Settings.LOG_LEVEL, word);
          default -> word.substring(word.charAt(2) == '=' ? 3 : 2);
        };
    take(Settings.LOG_LEVEL, "v", value);
    return Asked.RUN;
  }

  private String next(Setting<?> setting, String flag) throws ConfigException {
    if (setting.kind().isBoolean()) {
      return "true";
    }
    if (!words.hasNext()) {
      throw new ConfigException(
          "the flag %s needs a value: %s".formatted(flag, setting.kind().allowed()));
    }
    return words.next();
  }

  private void take(Setting<?> setting, String name, String value) throws ConfigException {
    String origin = (name.length() == 1 ? "-" : "--").concat(name);
    if (setting.isIgnored()) {
      notes.add(origin + " is a flag of Go's loggers and is ignored");
      return;
    }
    String instead = setting.insteadOf(name);
    if (instead != null) {
      notes.deprecated(origin, instead);
    }
    layer.read(setting, value, name, origin);
  }

  private static ConfigException unknown(String flag) {
    return new ConfigException(
        "unknown flag %s (from the command line); --help lists the flags"
            .formatted(Quoted.text(flag)));
  }
}
