package io.inferspan.samples.demo;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends a process with its parent, even if the parent is killed.
 *
 * <p>On Linux the kernel does this. Elsewhere a shell reads a pipe whose other end the parent
 * holds.
 */
enum ParentWatch {
  /** {@code setpriv --pdeathsig}: it executes the process, which keeps its pid. */
  KERNEL {
    @Override
    List<String> wrap(List<String> command) {
      return joined(List.of("setpriv", "--pdeathsig", "KILL", "--"), command);
    }
  },
  /** A shell around the process, which notices that the pipe is closed. */
  PIPE {
    @Override
    List<String> wrap(List<String> command) {
      return joined(List.of("sh", "-c", WATCH, "parent-watch"), command);
    }
  };

  /**
   * Descriptor 3 is the pipe, because a shell redirects the input of background jobs.
   *
   * <p>The watching {@code cat} does not hold the process's output: it outlives the process by a
   * moment, and a reader of that output would wait for it.
   */
  private static final String WATCH =
      """
      exec 3<&0
      told=
      trap 'told=1; kill $child 2>/dev/null' TERM INT
      "$@" 3<&- </dev/null & child=$!
      [ -z "$told" ] || kill $child
      { cat; kill -9 $child; } <&3 >/dev/null 2>&1 & watch=$!
      wait $child; status=$?
      while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
      kill $watch 2>/dev/null
      exit $status
      """;

  private static final long TRIAL_SECONDS = 5;

  /** Returns a command that runs this one and ends with its parent. */
  abstract List<String> wrap(List<String> command);

  /** Returns the best way that this machine has. */
  static ParentWatch ofThisMachine() {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, "setpriv"))) {
        // Other programs of that name do not have the option.
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
