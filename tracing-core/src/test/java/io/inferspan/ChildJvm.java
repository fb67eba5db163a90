package io.inferspan;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Runs a main class in a separate JVM, for tests of the environment, the class path or the end of a
 * process.
 *
 * <p>The child inherits no {@code OTEL_*} and no {@code INFERSPAN_*} variable.
 */
public final class ChildJvm {

  private static final int TIMEOUT_SECONDS = 60;

  private final Class<?> main;
  private final Map<String, String> environment = new LinkedHashMap<>();
  private final List<String> flags = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1"));
  private String front = "";
  private String leftOut = "";

  private ChildJvm(Class<?> main) {
    this.main = main;
  }

  /** Prepares a JVM that runs {@code main}, with the class path of this one. */
  public static ChildJvm running(Class<?> main) {
    return new ChildJvm(main);
  }

  /** Sets an environment variable. */
  public ChildJvm env(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** Passes an option to the JVM. */
  public ChildJvm flag(String flag) {
    flags.add(flag);
    return this;
  }

  /** Puts a jar in front of the class path. */
  public ChildJvm before(String jar) {
    front = jar + File.pathSeparator;
    return this;
  }

  /** Removes each class path entry whose path contains {@code part}. */
  public ChildJvm without(String part) {
    leftOut = part;
    return this;
  }

  /** Runs the process until it exits. */
  public Outcome run(String... arguments) {
    try {
      return run(command(arguments));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while " + main + " ran", e);
    }
  }

  private List<String> command(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags);
    command.add("-cp");
    command.add(front + classPath());
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return command;
  }

  private String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(part -> leftOut.isEmpty() || !part.contains(leftOut))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private Outcome run(List<String> command) throws IOException, InterruptedException {
    Path out = Files.createTempFile("child", ".out");
    Path err = Files.createTempFile("child", ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("OTEL_") || name.startsWith("INFERSPAN_"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError(main + " ran longer than " + TIMEOUT_SECONDS + " s");
      }
      return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      process.destroyForcibly();
      Files.delete(out);
      Files.delete(err);
    }
  }

  /**
   * The result of the process.
   *
   * @param exit the exit status
   * @param out its standard output
   * @param err its standard error
   */
  public record Outcome(int exit, String out, String err) {

    /** Returns the value of the line {@code name=value} on standard output. */
    public String value(String name) {
      String start = name + "=";
      return out.lines()
          .filter(line -> line.startsWith(start))
          .map(line -> line.substring(start.length()))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no " + start + " in " + this));
    }
  }
}
