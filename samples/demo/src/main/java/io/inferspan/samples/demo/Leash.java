package io.inferspan.samples.demo;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Makes a process end with the one that started it, however that ends.
 *
 * <p>Where Linux can, the kernel sees to it; elsewhere a shell beside the process reads a pipe that
 * breaks with its other end.
 */
enum Leash {
  /** {@code setpriv --pdeathsig}: the process is started in its place, and keeps its number. */
  KERNEL {
    @Override
    List<String> on(List<String> command) {
      return joined(List.of("setpriv", "--pdeathsig", "KILL", "--"), command);
    }
  },
  /** A shell around the process, for it has no other parent that would notice. */
  PIPE {
    @Override
    List<String> on(List<String> command) {
      return joined(List.of("sh", "-c", WATCH, "leash"), command);
    }
  };

  /**
   * Descriptor 3 is the pipe: a shell gives what runs in its background another input.
   *
   * <p>What watches holds nothing of the process's output: its {@code cat} outlives the end by a
   * moment, and who reads that output waits for all who hold it.
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

  /** The command that does the same, on the leash. */
  abstract List<String> on(List<String> command);

  /** The best that this machine has. */
  static Leash ofThisMachine() {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, "setpriv"))) {
        // There are others of that name, which cannot.
        return works(KERNEL.on(List.of("true"))) ? KERNEL : PIPE;
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
