package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.linux.SystemCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A command that starts only on {@link #resume}, so that it is observed from its first instruction.
 * A shell stops itself, and executes the command in the same process when it is resumed.
 */
public final class StoppedCommand {

  private static final int POLL_MILLIS = 2;
  private static final int SIGCONT = 18;

  private final Process process;

  private StoppedCommand(Process process) {
    this.process = process;
  }

  /**
   * Starts the shell and waits until it has stopped.
   *
   * @param piped whether this process reads its output; otherwise it inherits the output
   */
  public static StoppedCommand start(
      List<String> command, Map<String, String> environment, boolean piped)
      throws IOException, InterruptedException {
    List<String> words =
        new ArrayList<>(List.of("/bin/sh", "-c", "kill -STOP $$; exec \"$@\"", "sh"));
    words.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
    builder.environment().putAll(environment);
    if (piped) {
      builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.PIPE);
    }
    StoppedCommand stopped = new StoppedCommand(builder.start());
    while (stopped.process.isAlive() && state(stopped.process.pid()) != 'T') {
      Thread.sleep(POLL_MILLIS);
    }
    return stopped;
  }

  public Process process() {
    return process;
  }

  /** Lets the shell execute the command. */
  public void resume() {
    long ignored = SystemCall.KILL.callOrThrow("continuing the command", process.pid(), SIGCONT);
  }

  /** Returns the process's state: the letter after its name, which may contain any character. */
  private static char state(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    return stat.charAt(stat.lastIndexOf(')') + 2);
  }
}
