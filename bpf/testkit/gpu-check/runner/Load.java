package io.inferspan.gpucheck;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

/** A program that answers each line of input with lines, the last of which is "done" or "failed REASON". */
final class Load implements AutoCloseable {

  /** Programs left over by a step that ran out of time. */
  static final Queue<Process> RUNNING = new ConcurrentLinkedQueue<>();

  static final String LIBRARIES = "LD_LIBRARY_PATH";

  private final String name;
  private final Process process;
  private final BufferedReader answers;
  private final Path errors;
  private final String greeting;

  /** Starts the program and returns when it reports that it is ready. */
  Load(Path program, List<String> command) throws IOException {
    name = program.getFileName().toString();
    errors = Files.createTempFile("gpu-check", ".err");
    process = builder(command).redirectError(errors.toFile()).start();
    RUNNING.add(process);
    answers = process.inputReader();
    greeting = line();
    if (!greeting.startsWith("ready")) {
      close();
      String reason = greeting.substring(greeting.indexOf(' ') + 1);
      throw greeting.startsWith("absent") ? new GpuCheck.Absent(reason) : new IOException(reason);
    }
  }

  /** Returns a builder with the original library path, which was changed for the bundle's Java only. */
  private static ProcessBuilder builder(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put(LIBRARIES, theirLibraries());
    return builder;
  }

  /** Returns a command that runs another one with the original library path. */
  static List<String> inItsEnvironment(List<String> command) {
    List<String> words = new ArrayList<>(List.of("env", LIBRARIES + "=" + theirLibraries()));
    words.addAll(command);
    return words;
  }

  private static String theirLibraries() {
    return Objects.requireNonNullElse(System.getenv("GPU_CHECK_" + LIBRARIES), "");
  }

  /** Runs a program to its end and returns its output; if it fails, the last line is the reason. */
  static String output(String... command) throws IOException, InterruptedException {
    return output(builder(List.of(command)));
  }

  /** Runs a program with this environment and no input. */
  static String output(ProcessBuilder builder) throws IOException, InterruptedException {
    Process process = builder.redirectErrorStream(true).start();
    RUNNING.add(process);
    process.outputWriter().close();
    String text = new String(process.getInputStream().readAllBytes()).strip();
    if (process.waitFor() != 0) {
      throw new IOException(text.substring(text.lastIndexOf('\n') + 1).strip());
    }
    return text;
  }

  /** Returns the rest of the line that began with "ready". */
  String greeting() {
    return greeting.substring("ready".length()).strip();
  }

  /** Sends a command and returns the words of each line of the answer. */
  List<String[]> ask(Object... words) throws IOException {
    process.outputWriter().write(Arrays.stream(words).map(Object::toString).collect(Collectors.joining(" ", "", "\n")));
    process.outputWriter().flush();
    List<String[]> answer = new ArrayList<>();
    for (String next = line(); !next.equals("done"); next = line()) {
      if (next.startsWith("failed ")) {
        throw new IOException(name + ", " + words[0] + ": " + next.substring("failed ".length()));
      }
      answer.add(next.split(" "));
    }
    return answer;
  }

  int pid() {
    return (int) process.pid();
  }

  /** Returns the driver library that the program has mapped. */
  Path libcuda() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/maps"))) {
      if (line.contains("/libcuda.so")) {
        return Path.of(line.substring(line.indexOf('/')));
      }
    }
    throw new IOException(name + " has not mapped libcuda");
  }

  private String line() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      List<String> said = Files.readAllLines(errors);
      throw new IOException(name + " ended" + (said.isEmpty() ? "" : ": " + said.getLast()));
    }
    return line;
  }

  @Override
  public void close() throws IOException {
    kill(process);
    Files.deleteIfExists(errors);
  }

  /** Ends a process and its descendants. */
  static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    RUNNING.remove(process);
  }
}
