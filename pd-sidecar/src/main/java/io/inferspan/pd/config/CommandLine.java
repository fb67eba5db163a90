package io.inferspan.pd.config;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The command line, in the grammar of Go's pflag.
 *
 * <p>It accepts {@code --flag=value} and {@code --flag value}. A boolean never takes the next
 * argument, and {@code -v} is the only short flag with a value. An unknown flag is an error.
 * Arguments that are not flags are ignored, as in llm-d's sidecar, and noted at startup.
 */
final class CommandLine {
  private final Iterator<String> words;
  private final Notes notes;
  private final Layer layer;

  CommandLine(List<String> words, Notes notes) {
    this.words = words.iterator();
    this.notes = notes;
    this.layer = new Layer(notes);
  }

  /** Returns the values of the flags, after {@link #read}. */
  Layer layer() {
    return layer;
  }

  /** Reads the flags; returns what to do instead of running, or null. */
  @Nullable Invocation read() throws ConfigException {
    Invocation instead = null;
    while (instead == null && words.hasNext()) {
      String word = words.next();
      if (word.equals("--")) {
        words.forEachRemaining(notes::stray);
      } else if (word.startsWith("--")) {
        instead = longFlag(word);
      } else if (word.startsWith("-h")) {
        instead = new Invocation.ShowHelp(HelpText.write());
      } else if (word.startsWith("-v")) {
        String attached = word.substring(word.startsWith("-v=") ? 3 : 2);
        boolean alone = word.length() == 2;
        take(Settings.LOG_LEVEL, "v", alone ? next(Settings.LOG_LEVEL, word) : attached);
      } else if (word.startsWith("-") && word.length() > 1) {
        throw unknown(word);
      } else {
        notes.stray(word);
      }
    }
    return instead;
  }

  private @Nullable Invocation longFlag(String word) throws ConfigException {
    int equals = word.indexOf('=');
    String name = equals < 0 ? word.substring(2) : word.substring(2, equals);
    if (name.equals("help")) {
      return new Invocation.ShowHelp(HelpText.write());
    }
    if (name.equals("version")) {
      return new Invocation.ShowVersion();
    }
    Setting<?> setting = Settings.named(name);
    if (setting == null) {
      throw unknown("--" + name);
    }
    take(setting, name, equals < 0 ? next(setting, word) : word.substring(equals + 1));
    return null;
  }

  private String next(Setting<?> setting, String flag) throws ConfigException {
    if (setting.kind.isBoolean()) {
      return "true";
    }
    if (!words.hasNext()) {
      throw new ConfigException(
          "the flag %s needs a value: %s".formatted(flag, setting.kind.allowed()));
    }
    return words.next();
  }

  private void take(Setting<?> setting, String name, String value) throws ConfigException {
    String origin = (name.length() == 1 ? "-" : "--").concat(name);
    if (setting.isIgnored()) {
      notes.add(origin + " is a flag of Go's loggers and is ignored");
      return;
    }
    layer.read(setting, value, name, origin);
  }

  private static ConfigException unknown(String flag) {
    return new ConfigException(
        "unknown flag %s (from the command line); --help lists the flags"
            .formatted(ConfigException.quoted(flag)));
  }
}
