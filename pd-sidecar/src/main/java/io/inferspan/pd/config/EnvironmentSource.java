package io.inferspan.pd.config;

import io.inferspan.pd.config.text.Quoted;
import io.inferspan.pd.config.text.TextException;
import java.util.Map;

/** Reads settings from environment variables. */
final class EnvironmentSource {

  private EnvironmentSource() {}

  static Layer read(Map<String, String> env, Notes notes) throws ConfigException {
    Layer layer = new Layer();
    for (Setting<?> setting : Settings.all()) {
      String variable = setting.env();
      String text = variable == null ? null : env.get(variable);
      if (variable != null && text != null && !text.isBlank()) {
        take(setting, variable, text.strip(), layer, notes);
      }
    }
    return layer;
  }

  /**
   * Reads a variable. A malformed value is ignored, as in llm-d's sidecar, because Kubernetes
   * itself sets {@code SGLANG_BOOTSTRAP_PORT=tcp://…} if a service has that name.
   */
  private static void take(
      Setting<?> setting, String variable, String text, Layer layer, Notes notes)
      throws ConfigException {
    String origin = "the environment variable ".concat(variable);
    try {
      String value = setting.equals(Settings.METRICS_PORT) ? portOf(text) : text;
      layer.add(setting, value, setting.key(), origin);
    } catch (TextException _) {
      notes.add(
          "%s is %s and is ignored: it must be %s"
              .formatted(origin, Quoted.text(text), setting.kind().allowed()));
      return;
    }
    String instead = setting.instead();
    if (instead != null) {
      notes.deprecated(origin, instead);
    }
  }

  private static String portOf(String address) {
    return address.substring(address.lastIndexOf(':') + 1);
  }
}
