package io.inferspan.pd.config;

import io.inferspan.pd.config.Setting.Group;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.Assertions;

/** Command lines, parsed for a test. */
final class Parsed {

  private Parsed() {}

  static SidecarConfig config(String... args) throws ConfigException {
    return config(Map.of(), args);
  }

  static SidecarConfig config(Map<String, String> env, String... args) throws ConfigException {
    return ((Invocation.Run) Invocation.parse(List.of(args), env)).config();
  }

  static SidecarConfig yaml(String yaml, String... more) throws ConfigException {
    List<String> args = new ArrayList<>(List.of("--configuration", yaml));
    args.addAll(List.of(more));
    return config(args.toArray(String[]::new));
  }

  /** The parsed settings, deprecated ones included. */
  static Map<String, Object> values(SidecarConfig config) {
    Map<String, Object> values = new LinkedHashMap<>();
    for (Setting<?> setting : Settings.all()) {
      if (setting.group != Group.DEPRECATED && !setting.isIgnored()) {
        values.put(setting.key, config.get(setting));
      }
    }
    values.put(Settings.CONFIGURATION.key, "");
    values.put(Settings.CONFIGURATION_FILE.key, "");
    values.put(Settings.INFERENCE_POOL.key, String.valueOf(config.pool()));
    values.put(Settings.KV_CONNECTOR.key, config.kvConnector().name());
    values.put(Settings.MORIIO_LOCAL_POD_IP.key, String.valueOf(config.localPodIp()));
    values.put(Settings.ENABLE_TLS.key, config.tls());
    values.put(Settings.TLS_INSECURE_SKIP_VERIFY.key, config.skipVerify());
    return values;
  }

  static String refusal(String... args) {
    return refusal(Map.of(), args);
  }

  static String refusal(Map<String, String> env, String... args) {
    try {
      SidecarConfig config = config(env, args);
      return Assertions.fail("not refused, but " + values(config));
    } catch (ConfigException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
