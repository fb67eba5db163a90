package io.inferspan.pd.config;

import io.inferspan.pd.config.CommandLine.Asked;
import java.util.List;
import java.util.Map;

/** A parsed command line. */
public sealed interface Invocation {

  /** Serve with this configuration. */
  record Run(SidecarConfig config) implements Invocation {}

  /** Print the help. */
  record ShowHelp(String text) implements Invocation {}

  /** Print the version. */
  record ShowVersion() implements Invocation {}

  /**
   * Reads a command line and the environment.
   *
   * @throws ConfigException if they cannot be followed; to be printed as it is
   */
  static Invocation parse(List<String> args, Map<String, String> env) throws ConfigException {
    Notes notes = new Notes();
    CommandLine line = new CommandLine(args, notes);
    Asked asked = line.read();
    return switch (asked) {
      case HELP -> new ShowHelp(HelpText.write());
      case VERSION -> new ShowVersion();
      case RUN -> {
        Layer yaml = YamlSource.read(line.layer(), notes);
        Layer environment = EnvironmentSource.read(env, notes);
        SidecarConfig config = new SidecarConfig(List.of(line.layer(), yaml, environment), notes);
        new Rules(config, notes).check();
        yield new Run(config);
      }
    };
  }
}
