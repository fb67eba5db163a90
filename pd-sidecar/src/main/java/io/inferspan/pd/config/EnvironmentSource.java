package io.inferspan.pd.config;

import io.inferspan.pd.config.Layer.Given;
import io.inferspan.pd.config.text.Quoted;
import io.inferspan.pd.config.text.TextException;
import java.util.Map;

/** The environment variables that settings have. */
final class EnvironmentSource {

  private EnvironmentSource() {}

  static Layer read(Map<String, String> env, Notes notes) throws ConfigException {
    Layer layer = new Layer();
    for (Setting setting : Setting.values()) {
      String variable = setting.spec().env();
      String text = variable == null ? null : env.get(variable);
      if (variable != null && text != null && !text.isBlank()) {
        take(setting, variable, text.strip(), layer, notes);
      }
    }
    return layer;
  }

  /**
   * A text without the right form is skipped, as llm-d's sidecar does: Kubernetes itself sets
   * {@code SGLANG_BOOTSTRAP_PORT=tcp://…} where a service has that name.
   */
  private static void take(Setting setting, String variable, String text, Layer layer, Notes notes)
      throws ConfigException {
    String origin = "the environment variable ".concat(variable);
    Given given;
    try {
      String value = setting == Setting.METRICS_PORT ? portOf(text) : text;
      given = Layer.unchecked(setting, value, setting.key(), origin);
    } catch (TextException _) {
      notes.add(
          "%s is %s and is ignored: it must be %s"
              .formatted(origin, Quoted.text(text), setting.kind().allowed()));
      return;
    }
    Layer.check(setting, given);
    layer.add(setting, given);
    String instead = setting.spec().instead();
    if (instead != null) {
      notes.deprecated(origin, instead);
    }
  }

  private static String portOf(String address) {
    return address.substring(address.lastIndexOf(':') + 1);
  }
}
