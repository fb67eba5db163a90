package io.inferspan.ebpf.cli;

import java.util.List;

/** What a command line asks for. */
sealed interface Invocation
    permits Invocation.Agent,
        Invocation.Doctor,
        Invocation.Top,
        Invocation.ShowHelp,
        Invocation.ShowVersion,
        StackOrder,
        RecordOrder,
        CallFilesOrder,
        ImportOrder,
        PolicyOrder,
        ColdStartOrder {

  /** The greatest number that a port may have. */
  int LAST_PORT = 65_535;

  String COMMANDS = "agent, doctor, top, record, flame, diff, import, coldstart or policy";

  /** What the agent can be told. */
  String AGENT_OPTIONS = "--pid, --command, --cgroup, --metrics-port, --measure-programs";

  /**
   * Observe processes until told to stop; its numbers are read on a port, or on none, and tell what
   * its programs take where they are measured.
   */
  record Agent(Targets targets, int metricsPort, boolean measured) implements Invocation {

    /** No port. */
    static final int NONE = -1;
  }

  /** Say what is missing. */
  record Doctor() implements Invocation {}

  /** Show the bridges that run. */
  record Top(boolean once) implements Invocation {}

  /** Print the help. */
  record ShowHelp() implements Invocation {}

  /** Print the version. */
  record ShowVersion() implements Invocation {}

  /** Reads a command line. */
  static Invocation parse(List<String> arguments) throws UsageException {
    if (arguments.isEmpty()) {
      throw new UsageException("no command given: say " + COMMANDS + "; --help tells more");
    }
    Arguments rest = new Arguments(arguments);
    String command = rest.next();
    return switch (command) {
      case "agent" -> agent(rest);
      case "doctor" -> doctor(rest);
      case "top" -> top(rest);
      case "record" -> RecordOrder.parse(rest);
      case "import" -> ImportOrder.parse(rest);
      case "coldstart" -> ColdStartOrder.parse(rest);
      case "policy" -> PolicyOrder.parse(rest);
      case "flame", "diff" -> StackOrder.parse(command, rest);
      case "--help", "-h", "help" -> new ShowHelp();
      case "--version" -> new ShowVersion();
      default ->
          throw new UsageException(
              "there is no command " + command + ": say " + COMMANDS + "; --help tells more");
    };
  }

  private static Invocation agent(Arguments rest) throws UsageException {
    Targets.Builder targets = new Targets.Builder();
    int metricsPort = Agent.NONE;
    boolean measured = false;
    while (rest.hasNext()) {
      String option = rest.next();
      switch (option) {
        case "--pid" -> targets.pids(rest.valueOf(option));
        case "--command" -> targets.command(rest.valueOf(option));
        case "--cgroup" -> targets.cgroup(rest.valueOf(option));
        case "--metrics-port" -> metricsPort = port(rest.valueOf(option));
        case "--measure-programs" -> measured = true;
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> throw rest.unknown("agent", option, AGENT_OPTIONS);
      }
    }
    return new Agent(targets.build(), metricsPort, measured);
  }

  private static int port(String value) throws UsageException {
    if (!value.matches("[0-9]{1,5}") || Integer.parseInt(value) > LAST_PORT) {
      throw new UsageException(
          "--metrics-port " + value + ": must be from 0, any, to " + LAST_PORT);
    }
    return Integer.parseInt(value);
  }

  private static Invocation doctor(Arguments rest) throws UsageException {
    if (!rest.hasNext()) {
      return new Doctor();
    }
    String option = rest.next();
    if (option.equals("--help") || option.equals("-h")) {
      return new ShowHelp();
    }
    throw rest.unknown("doctor", option, "none");
  }

  private static Invocation top(Arguments rest) throws UsageException {
    boolean once = false;
    while (rest.hasNext()) {
      String option = rest.next();
      switch (option) {
        case "--once" -> once = true;
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> throw rest.unknown("top", option, "--once");
      }
    }
    return new Top(once);
  }
}
