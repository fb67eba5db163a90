package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.cli.top.Top;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.linux.SystemCallException;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;

/** The program: {@code java -jar inferspan-ebpf-bridge.jar}. */
public final class EbpfTool {

  static final int DONE = 0;
  static final int FAILED = 1;
  private static final int WRONG_USAGE = 2;

  private static final String LOG_FORMAT = "java.util.logging.SimpleFormatter.format";
  private static final String ONE_LINE = "%1$tFT%1$tT.%1$tL%1$tz %4$s %3$s: %5$s%6$s%n";

  private EbpfTool() {}

  /** Runs a command and ends the process with its status. */
  public static void main(String[] arguments) throws InterruptedException {
    if (System.getProperty(LOG_FORMAT) == null) {
      System.setProperty(LOG_FORMAT, ONE_LINE);
    }
    System.exit(run(List.of(arguments), System.getenv(), System.out, System.err));
  }

  /** Runs a command; returns the exit status. */
  static int run(
      List<String> arguments, Map<String, String> environment, PrintStream out, PrintStream err)
      throws InterruptedException {
    try {
      return switch (Invocation.parse(arguments)) {
        case Invocation.ShowHelp _ -> say(HelpText.TEXT, out);
        case Invocation.ShowVersion _ -> say("inferspan-ebpf-bridge " + version(), out);
        case Invocation.Doctor _ -> examine(environment, out);
        case Invocation.Top top -> watch(top.once(), environment, out);
        case StackOrder stacks -> stacks.run(out, err);
        case RecordOrder stacks -> stacks.run(out, err);
        case ImportOrder files -> files.run(environment, err);
        case PolicyOrder policy -> policy.run(out, err);
        case CallFilesOrder calls -> calls.run(out, err);
        case ColdStartOrder start -> start.run(environment, out, err);
        case Invocation.Agent agent -> Agent.run(agent, environment, err);
      };
    } catch (UsageException wrong) {
      err.println(wrong.getMessage());
      return WRONG_USAGE;
    } catch (BpfException | SystemCallException refused) {
      err.println(refused.getMessage());
      return FAILED;
    }
  }

  private static int say(String text, PrintStream out) {
    out.println(text);
    return DONE;
  }

  private static int examine(Map<String, String> environment, PrintStream out) {
    EbpfSupport support = EbpfSupport.tryOut();
    out.print(DoctorText.of(support, Style.ofThisProcess(environment)));
    return support instanceof EbpfSupport.Available ? DONE : FAILED;
  }

  private static int watch(boolean once, Map<String, String> environment, PrintStream out)
      throws InterruptedException {
    Style style = Style.ofThisProcess(environment);
    return new Top(style::picture, out).run(once) ? DONE : FAILED;
  }

  private static String version() {
    String version = EbpfTool.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }
}
