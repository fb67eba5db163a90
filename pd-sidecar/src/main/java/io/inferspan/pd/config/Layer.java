package io.inferspan.pd.config;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values of one source: the flags, the YAML, the environment or the defaults. */
final class Layer {

  /**
   * A text that was given for a setting, and its source.
   *
   * @param rank the position of the used name among the setting's names; 0 is the current name
   */
  record Given(String text, String origin, int rank) {}

  private final Map<Setting<?>, Given> values = new HashMap<>();
  private final Notes notes;

  /**
   * Creates an empty layer.
   *
   * @param notes receives a note for each deprecated name
   */
  Layer(Notes notes) {
    this.notes = notes;
  }

  /**
   * Reads environment variables. A malformed value is ignored, as in llm-d's sidecar, because
   * Kubernetes itself sets {@code SGLANG_BOOTSTRAP_PORT=tcp://…} in a namespace with a service
   * named {@code sglang-bootstrap}.
   */
  static Layer of(Map<String, String> env, Notes notes) throws ConfigException {
    Layer layer = new Layer(notes);
    for (Setting<?> setting : Settings.all()) {
      String variable = setting.env;
      String text = variable == null ? "" : env.getOrDefault(variable, "").strip();
      if (text.isEmpty()) {
        continue;
      }
      String origin = "the environment variable " + variable;
      boolean address = setting.equals(Settings.METRICS_PORT);
      String value = address ? text.substring(text.lastIndexOf(':') + 1) : text;
      try {
        layer.add(setting, value, setting.key, origin);
      } catch (IllegalArgumentException _) {
        notes.add(
            "%s is %s and is ignored: it must be %s"
                .formatted(origin, ConfigException.quoted(text), setting.kind.allowed()));
      }
    }
    return layer;
  }

  @Nullable Given find(Setting<?> setting) {
    return values.get(setting);
  }

  /**
   * Stores a text if it is well-formed. The current name takes precedence over old names, and a
   * later text over an earlier one; but texts of lists are joined.
   *
   * @throws IllegalArgumentException if it is malformed
   * @throws ConfigException if the value is not allowed
   */
  private void add(Setting<?> setting, String text, String name, String origin)
      throws ConfigException {
    if (!isAllowed(setting.kind, text)) {
      throw ConfigException.refused(setting, setting.kind.allowed(), text, origin);
    }
    String instead = setting.insteadOf(name);
    if (instead != null) {
      notes.deprecated(origin, instead);
    }
    Given given = new Given(text, origin, Math.max(0, setting.names().indexOf(name)));
    Given before = values.get(setting);
    if (before == null || given.rank() < before.rank()) {
      values.put(setting, given);
    } else if (given.rank() == before.rank()) {
      values.put(setting, setting.kind.isList() ? joined(before, given) : given);
    }
  }

  private static <T> boolean isAllowed(Kind<T> kind, String text) {
    return kind.allows(kind.read(text));
  }

  private static Given joined(Given before, Given given) {
    return new Given(before.text() + "," + given.text(), given.origin(), given.rank());
  }

  /** Stores a text, which must be well-formed. */
  void read(Setting<?> setting, String text, String name, String origin) throws ConfigException {
    try {
      add(setting, text, name, origin);
    } catch (IllegalArgumentException _) {
      throw ConfigException.refused(setting, setting.kind.allowed(), text, origin);
    }
  }
}
