package io.inferspan.pd.config;

import java.util.ArrayList;
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

  static String refusal(String... args) {
    return refusal(Map.of(), args);
  }

  static String refusal(Map<String, String> env, String... args) {
    try {
      SidecarConfig config = config(env, args);
      return Assertions.fail("not refused, but " + config);
    } catch (ConfigException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
