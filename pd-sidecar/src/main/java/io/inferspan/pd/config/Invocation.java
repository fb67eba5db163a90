package io.inferspan.pd.config;

import java.util.List;
import java.util.Map;

/** A parsed command line. */
public sealed interface Invocation {

  record Run(SidecarConfig config) implements Invocation {}

  record ShowHelp(String text) implements Invocation {}

  record ShowVersion() implements Invocation {}

  /**
   * Reads a command line and the environment.
   *
   * @throws ConfigException if they are invalid; its message is for the user
   */
  static Invocation parse(List<String> args, Map<String, String> env) throws ConfigException {
    Notes notes = new Notes();
    CommandLine line = new CommandLine(args, notes);
    Invocation other = line.read();
    if (other != null) {
      return other;
    }
    List<Layer> layers =
        List.of(line.layer(), YamlSource.read(line.layer(), notes), Layer.of(env, notes));
    SidecarConfig config = new SidecarConfig(layers, notes);
    new Rules(config, notes).check();
    return new Run(config);
  }
}
