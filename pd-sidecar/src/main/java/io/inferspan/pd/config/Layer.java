package io.inferspan.pd.config;

import io.inferspan.pd.config.text.Quoted;
import io.inferspan.pd.config.text.TextException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The values of one source: the flags, the YAML, the environment or the defaults. */
final class Layer {

  /**
   * A value and where it comes from.
   *
   * @param rank how good a name it came under, 0 being the best
   */
  record Given(Object value, String text, String origin, int rank) {

    String quoted() {
      return Quoted.text(text);
    }
  }

  private final Map<Setting, Given> values = new EnumMap<>(Setting.class);

  @Nullable Given find(Setting setting) {
    return values.get(setting);
  }

  /** Takes the value over: the better name wins, then the later, and lists grow. */
  void add(Setting setting, Given given) {
    Given before = values.get(setting);
    if (before == null || given.rank() < before.rank()) {
      values.put(setting, given);
    } else if (given.rank() == before.rank()) {
      values.put(setting, joined(before, given));
    }
  }

  private static Given joined(Given before, Given given) {
    if (!(before.value() instanceof String[] first && given.value() instanceof String[] second)) {
      return given;
    }
    String[] all = Stream.of(first, second).flatMap(Stream::of).toArray(String[]::new);
    return new Given(all, before.text() + "," + given.text(), given.origin(), given.rank());
  }

  /** Reads a text and checks it against the bounds of the setting. */
  static Given read(Setting setting, String text, String name, String origin)
      throws ConfigException {
    Given given;
    try {
      given = unchecked(setting, text, name, origin);
    } catch (TextException _) {
      throw refused(setting, text, origin);
    }
    check(setting, given);
    return given;
  }

  /** Reads a text of which only the form is right. */
  static Given unchecked(Setting setting, String text, String name, String origin)
      throws TextException {
    int rank = Math.max(0, setting.names().indexOf(name));
    return new Given(setting.kind().read(text), text, origin, rank);
  }

  static void check(Setting setting, Given given) throws ConfigException {
    if (!setting.kind().allows(given.value())) {
      throw refused(setting, given.text(), given.origin());
    }
  }

  private static ConfigException refused(Setting setting, String text, String origin) {
    return new ConfigException(
        "%s must be %s, but is %s (from %s)"
            .formatted(setting.key(), setting.kind().allowed(), Quoted.text(text), origin));
  }

  /** All values of lists, for messages. */
  static List<String> list(Given given) {
    return List.of((String[]) given.value());
  }
}
