package io.inferspan.samples.desk;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** The program: {@code java -jar inferspan-desk.jar}. */
public final class DeskMain {

  static final int SERVING = -1;

  private static final int WRONG_CONFIGURATION = 2;
  private static final int CANNOT_START = 1;
  private static final long STOP_SECONDS = 5;

  private DeskMain() {}

  /** Runs until SIGTERM; exits with status 2 for invalid arguments, 1 if the desk cannot start. */
  public static void main(String[] arguments) {
    int status = run(List.of(arguments), System.getenv(), System.out, System.err);
    if (status != SERVING) {
      System.exit(status);
    }
  }

  static int run(
      List<String> arguments, Map<String, String> environment, PrintStream out, PrintStream err) {
    if (arguments.contains("--help")) {
      out.print(Setting.help());
      return 0;
    }
    if (arguments.contains("--version")) {
      out.println("inferspan-desk " + version());
      return 0;
    }
    try {
      if (!arguments.isEmpty() && arguments.get(0).equals(Explain.COMMAND)) {
        return Explain.run(arguments.subList(1, arguments.size()), out, err);
      }
      return serve(DeskConfig.parse(arguments, environment), out, err);
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return WRONG_CONFIGURATION;
    }
  }

  private static String version() {
    String version = DeskMain.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }

  private static int serve(DeskConfig config, PrintStream out, PrintStream err) {
    Desk desk;
    try {
      desk = Desk.start(config).toCompletionStage().toCompletableFuture().join();
    } catch (CompletionException e) {
      Throwable cause = e.getCause();
      err.println("Cannot start the desk: " + (cause == null ? e : cause).getMessage());
      return CANNOT_START;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(desk), "desk-shutdown"));
    String host = config.host().indexOf(':') < 0 ? config.host() : "[" + config.host() + "]";
    out.printf(
        "desk: http://%s:%d/ (OTLP over gRPC on %d, over HTTP on %d)%n",
        host, desk.port(), desk.otlpGrpcPort(), desk.otlpHttpPort());
    return SERVING;
  }

  /** Closes the desk and exits with status 0. Java's default after SIGTERM is 143. */
  private static void stop(Desk desk) {
    try {
      desk.close()
          .toCompletionStage()
          .toCompletableFuture()
          .orTimeout(STOP_SECONDS, TimeUnit.SECONDS)
          .join();
    } catch (CompletionException e) {
      // The process exits in any case.
    }
    Runtime.getRuntime().halt(0);
  }
}
