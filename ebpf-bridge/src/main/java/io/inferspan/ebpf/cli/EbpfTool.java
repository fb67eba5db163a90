package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.linux.SystemCallException;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** The command line of {@code inferspan-ebpf-bridge.jar}. */
@Command(
    name = "java -jar inferspan-ebpf-bridge.jar",
    description = "Records kernel and CUDA events as child spans of requests.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = EbpfTool.Version.class,
    subcommands = CommandLine.HelpCommand.class,
    footer = {
      "%nExit status: 0 success; 1 failure, or a server that never became ready; 2 an invalid"
          + " option or setting.",
      "agent, doctor, record and coldstart need root, or CAP_BPF and CAP_PERFMON;"
          + " top, policy, and record with --trace or --by-trace need root, or CAP_SYS_ADMIN."
    })
public final class EbpfTool {

  static final int DONE = 0;
  static final int FAILED = 1;

  static final int HELP_WIDTH = 100;
  private static final String LOG_FORMAT = "java.util.logging.SimpleFormatter.format";
  private static final String ONE_LINE = "%1$tFT%1$tT.%1$tL%1$tz %4$s %3$s: %5$s%6$s%n";

  private static final Map<String, Supplier<ToolCommand>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("agent", AgentCommand::new);
    COMMANDS.put("doctor", DoctorCommand::new);
    COMMANDS.put("top", TopCommand::new);
    COMMANDS.put("record", RecordCommand::new);
    COMMANDS.put("flame", FlameCommand::new);
    COMMANDS.put("diff", DiffCommand::new);
    COMMANDS.put("import", ImportCommand::new);
    COMMANDS.put("coldstart", ColdStartCommand::new);
    COMMANDS.put("policy", PolicyCommand::new);
  }

  final Map<String, String> environment;
  final PrintStream out;
  final PrintStream err;
  final Style style;

  private EbpfTool(Map<String, String> environment, PrintStream out, PrintStream err) {
    this.environment = environment;
    this.out = out;
    this.err = err;
    this.style = Style.ofThisProcess(environment);
  }

  /** Runs a command and ends the process with its status. */
  public static void main(String[] arguments) {
    if (System.getProperty(LOG_FORMAT) == null) {
      System.setProperty(LOG_FORMAT, ONE_LINE);
    }
    System.exit(run(System.getenv(), System.out, System.err, arguments));
  }

  /** Runs a command; returns the exit status. */
  static int run(
      Map<String, String> environment, PrintStream out, PrintStream err, String... arguments) {
    String first = arguments.length == 0 ? "" : arguments[0];
    return commandLine(environment, out, err, first).execute(arguments);
  }

  /**
   * Creates the command line with only the command {@code one} if it exists, because reading the
   * options of all commands takes 0.2 s.
   */
  static CommandLine commandLine(
      Map<String, String> environment, PrintStream out, PrintStream err, String one) {
    EbpfTool tool = new EbpfTool(environment, out, err);
    CommandLine line = new CommandLine(tool);
    boolean all = !COMMANDS.containsKey(one) && !one.equals("--version");
    COMMANDS.forEach(
        (name, command) -> {
          if (all || name.equals(one)) {
            line.addSubcommand(name, command.get());
          }
        });
    complete(line);
    return line.setAllowOptionsAsOptionParameters(false)
        .setUsageHelpWidth(HELP_WIDTH)
        .setUsageHelpLongOptionsMaxWidth(HELP_WIDTH / 3)
        .setColorScheme(
            Help.defaultColorScheme(tool.style == Style.TERMINAL ? Help.Ansi.ON : Help.Ansi.OFF))
        .setOut(new PrintWriter(out, true, StandardCharsets.UTF_8))
        .setErr(new PrintWriter(err, true, StandardCharsets.UTF_8))
        .setParameterExceptionHandler((wrong, _) -> tool.reportInvalid(wrong))
        .setExecutionExceptionHandler((failed, _, _) -> tool.reportFailure(failed));
  }

  /** Adds the options and handlers that every command has. */
  private static void complete(CommandLine line) {
    CommandSpec command = line.getCommandSpec();
    command
        .usageMessage()
        .sortOptions(false)
        .parameterListHeading("%n")
        .optionListHeading("%n")
        .commandListHeading("%nCommands:%n");
    if (line.getCommand() instanceof AgentCommand) {
      command.usageMessage().footer(AgentCommand.footer());
    }
    if (command.findOption("--help") == null) {
      command.addOption(
          OptionSpec.builder("-h", "--help")
              .usageHelp(true)
              .description("Print this help.")
              .build());
    }
    line.getSubcommands().values().stream().distinct().forEach(EbpfTool::complete);
  }

  private int reportInvalid(ParameterException wrong) {
    CommandLine command = wrong.getCommandLine();
    String root = command.getCommandSpec().root().name();
    String name = command.getCommandSpec().qualifiedName().substring(root.length());
    List<String> similar = new ArrayList<>();
    if (wrong instanceof CommandLine.UnmatchedArgumentException unmatched) {
      String ending = unmatched.getUnmatched().getFirst().replaceFirst("^-*", "-");
      command.getCommandSpec().optionsMap().keySet().stream()
          .filter(option -> option.endsWith(ending))
          .forEach(similar::add);
      similar.addAll(unmatched.getSuggestions());
    }
    err.println(
        "%s%s; see %s"
            .formatted(
                String.valueOf(wrong.getMessage()).lines().findFirst().orElse(""),
                similar.isEmpty() ? "" : " (did you mean " + similar.getFirst() + "?)",
                (name + " --help").strip()));
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  private int reportFailure(Exception failed) throws Exception {
    switch (failed) {
      case NoSuchFileException absent -> err.println(absent.getFile() + ": no such file");
      case IOException _, BpfException _, SystemCallException _ -> err.println(failed.getMessage());
      case ConfigurationException invalid -> {
        err.println(invalid.getMessage());
        return CommandLine.ExitCode.USAGE;
      }
      default -> throw failed;
    }
    return FAILED;
  }

  /** The version of the jar. */
  static final class Version implements CommandLine.IVersionProvider {

    @Override
    public String[] getVersion() {
      String version = EbpfTool.class.getPackage().getImplementationVersion();
      return new String[] {"inferspan-ebpf-bridge " + (version == null ? "unknown" : version)};
    }
  }
}
