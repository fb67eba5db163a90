package io.inferspan.pd.config;

import io.inferspan.pd.config.text.Quoted;
import io.inferspan.pd.config.text.TextException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of one source: the flags, the YAML, the environment or the defaults. */
final class Layer {

  /**
   * A text that was given for a setting, and its source.
   *
   * @param rank the rank of the name that was used; 0 is the current name
   */
  record Given(String text, String origin, int rank) {}

  private final Map<Setting<?>, Given> values = new HashMap<>();

  @Nullable Given find(Setting<?> setting) {
    return values.get(setting);
  }

  /**
   * Stores a text if it is well-formed: the current name wins over old ones, then the later text
   * wins, and lists grow.
   *
   * @throws TextException if it is malformed
   * @throws ConfigException if the value is not allowed
   */
  void add(Setting<?> setting, String text, String name, String origin)
      throws TextException, ConfigException {
    if (!isAllowed(setting.kind(), text)) {
      throw refused(setting, text, origin);
    }
    Given given = new Given(text, origin, Math.max(0, setting.names().indexOf(name)));
    Given before = values.get(setting);
    if (before == null || given.rank() < before.rank()) {
      values.put(setting, given);
    } else if (given.rank() == before.rank()) {
      values.put(setting, setting.kind().isList() ? joined(before, given) : given);
    }
  }

  private static <T> boolean isAllowed(Kind<T> kind, String text) throws TextException {
    return kind.allows(kind.read(text));
  }

  private static Given joined(Given before, Given given) {
    return new Given(before.text() + "," + given.text(), given.origin(), given.rank());
  }

  /** Stores a text, which must be well-formed. */
  void read(Setting<?> setting, String text, String name, String origin) throws ConfigException {
    try {
      add(setting, text, name, origin);
    } catch (TextException _) {
      throw refused(setting, text, origin);
    }
  }

  private static ConfigException refused(Setting<?> setting, String text, String origin) {
    return new ConfigException(
        "%s must be %s, but is %s (from %s)"
            .formatted(setting.key(), setting.kind().allowed(), Quoted.text(text), origin));
  }
}
