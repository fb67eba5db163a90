package io.inferspan.launcher;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * The main class of a runnable jar whose program needs Java 25. On an older Java, it prints an
 * error message instead of a stack trace, because it is compiled for Java 17.
 *
 * <p>The jar's manifest names the program as {@code Program-Class}.
 */
public final class Launcher {

  private static final int REQUIRED_JAVA = 25;
  private static final String PROGRAM = "Program-Class";

  private Launcher() {}

  /** Runs the program with the same arguments; exits with status 1 if this Java is too old. */
  public static void main(String[] arguments) throws Throwable {
    String refusal = refusal(Runtime.version().feature(), System.getProperty("java.home"));
    if (refusal != null) {
      exit(refusal, System.err);
    }
    try {
      Class.forName(program(System.getProperty("java.class.path")))
          .getMethod("main", String[].class)
          .invoke(null, (Object) arguments);
    } catch (InvocationTargetException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }

  private static void exit(String refusal, PrintStream err) {
    err.println(refusal);
    System.exit(1);
  }

  static @Nullable String refusal(int java, String home) {
    return java >= REQUIRED_JAVA
        ? null
        : "This program needs Java "
            + REQUIRED_JAVA
            + " or newer, but runs on Java "
            + java
            + " in "
            + home
            + "; install a newer Java and run the jar with its bin/java.";
  }

  /** Returns the program's main class from the jar's manifest. */
  static String program(String jar) throws IOException {
    try (JarFile file = new JarFile(jar)) {
      return file.getManifest().getMainAttributes().getValue(PROGRAM);
    }
  }
}
