package io.inferspan.ebpf.stacks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds the Python interpreters of this machine. */
public final class Pythons {

  private static final String FRAMED = "PYTHON_WITH_FRAME_POINTERS";

  private Pythons() {}

  /** Returns commands that start interpreters with perf trampolines (Python 3.12 and newer). */
  public static List<List<String>> withTrampolines() throws IOException {
    Path versions = Path.of(System.getProperty("user.home"), ".pyenv/versions");
    List<List<String>> candidates = new ArrayList<>();
    String framed = System.getenv(FRAMED);
    if (framed != null) {
      candidates.add(List.of(framed.split(" ")));
    }
    candidates.add(List.of("/usr/bin/python3"));
    if (Files.isDirectory(versions)) {
      try (Stream<Path> found = Files.list(versions)) {
        found
            .sorted()
            .map(version -> List.of(version.resolve("bin/python3").toString()))
            .forEach(candidates::add);
      }
    }
    candidates.removeIf(
        candidate ->
            !Files.isExecutable(Path.of(candidate.getFirst()))
                || said(
                        candidate,
                        "import sys; sys.activate_stack_trampoline('perf'); print('yes')")
                    .isEmpty());
    return candidates;
  }

  /** Returns the interpreters of Python 3.11, whose functions are read from their state. */
  static List<Path> of311() {
    String home = System.getProperty("user.home");
    return Stream.of("/usr/bin/python3.11", home + "/.pyenv/versions/3.11.7/bin/python3.11")
        .map(Path::of)
        .filter(Files::isExecutable)
        .toList();
  }

  /**
   * Returns whether an interpreter was built with frame pointers, by its build flags or because
   * {@code PYTHON_WITH_FRAME_POINTERS} is its command.
   */
  static boolean hasFramePointers(List<String> interpreter) {
    String flags = "import sysconfig; print(sysconfig.get_config_var('CFLAGS'))";
    return String.join(" ", interpreter).equals(System.getenv(FRAMED))
        || said(interpreter, flags).contains("-fno-omit-frame-pointer");
  }

  private static String said(List<String> interpreter, String program) {
    List<String> command = new ArrayList<>(interpreter);
    command.addAll(List.of("-c", program));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return output.strip();
    } catch (IOException absent) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
