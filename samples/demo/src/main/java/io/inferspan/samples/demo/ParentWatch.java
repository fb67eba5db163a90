package io.inferspan.samples.demo;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends a child process when its parent ends, even if the parent is killed.
 *
 * <p>Where {@code setpriv} supports {@code --pdeathsig}, as on most Linux distributions, the kernel
 * does this. Elsewhere, a shell reads from a pipe that the parent holds open, and kills the command
 * when the pipe is closed.
 */
enum ParentWatch {
  /** Uses {@code setpriv --pdeathsig}, which executes the command under its own pid. */
  KERNEL {
    @Override
    List<String> wrap(List<String> command) {
      return joined(List.of("setpriv", "--pdeathsig", "KILL", "--"), command);
    }
  },
  /** Uses a shell that starts the command, and kills it when the pipe from the parent is closed. */
  PIPE {
    @Override
    List<String> wrap(List<String> command) {
      return joined(List.of("sh", "-c", WATCH, "parent-watch"), command);
    }
  };

  /**
   * The pipe is descriptor 3, because a shell redirects the standard input of background jobs.
   *
   * <p>The watching {@code cat} must not inherit the command's output: it ends slightly later, and
   * a reader of the output would wait for it.
   */
  private static final String WATCH =
      """
      exec 3<&0
      terminated=
      trap 'terminated=1; kill $child 2>/dev/null' TERM INT
      "$@" 3<&- </dev/null & child=$!
      [ -z "$terminated" ] || kill $child
      { cat; kill -9 $child; } <&3 >/dev/null 2>&1 & watch=$!
      wait $child; status=$?
      while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
      kill $watch 2>/dev/null
      exit $status
      """;

  private static final long TRIAL_SECONDS = 5;

  /** Returns a command line that runs the command and ends it when its parent ends. */
  abstract List<String> wrap(List<String> command);

  /** Returns {@link #KERNEL} if it works on this machine, else {@link #PIPE}. */
  static ParentWatch ofThisMachine() {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, "setpriv"))) {
        // Some implementations of setpriv, such as that of BusyBox, lack --pdeathsig.
        return works(KERNEL.wrap(List.of("true"))) ? KERNEL : PIPE;
      }
    }
    return PIPE;
  }

  private static boolean works(List<String> command) {
    try {
      Process trial =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return trial.waitFor(TRIAL_SECONDS, TimeUnit.SECONDS) && trial.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static List<String> joined(List<String> first, List<String> second) {
    List<String> joined = new ArrayList<>(first);
    joined.addAll(second);
    return joined;
  }
}
