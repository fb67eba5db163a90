package io.inferspan.samples.demo.engine;

import io.inferspan.Telemetry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** The main program of an engine on loopback that simulates a model. */
public final class EngineMain {

  /**
   * Printed after the engine's name when it serves and the gateway has subscribed to its KV events.
   */
  public static final String READY = " serves, and its KV events have a subscriber";

  /** A part of the line that the engine prints when it serves. */
  public static final String SERVES = "KV events on";

  /** Durations of CUDA calls at start, which take no time in the CUDA stand-in by default. */
  public static final String START_TIMES =
      "cuInit=150ms cuModuleLoadData=100ms cuMemAlloc_v2=50ms cuCtxSynchronize=200ms";

  /** The duration of a kernel in the CUDA stand-in. */
  public static final String KERNEL_TIME = CudaDevice.KERNEL_MILLIS + "ms";

  private static final String USAGE =
      "usage: --name=NAME --port=PORT --kv-port=PORT [--cuda=LIBRARY]";

  private static final int MOST_PORT = 65_535;

  private EngineMain() {}

  /** Serves until it is stopped. The exit status is 2 for invalid arguments, 1 for a failure. */
  public static void main(String[] arguments) {
    try {
      serve(Setup.of(List.of(arguments)));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    } catch (IOException | RuntimeException e) {
      System.err.println("cannot start the engine: " + e.getMessage());
      System.exit(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The command-line options.
   *
   * @param cuda the stand-in for the CUDA driver; null for none
   */
  record Setup(String name, int port, int kvPort, @Nullable Path cuda) {

    static Setup of(List<String> arguments) {
      Map<String, String> given = new HashMap<>();
      for (String argument : arguments) {
        int equals = argument.indexOf('=');
        if (equals < 0) {
          throw new IllegalArgumentException("invalid argument " + argument + "; " + USAGE);
        }
        given.put(argument.substring(0, equals), argument.substring(equals + 1));
      }
      String cuda = given.remove("--cuda");
      Setup setup =
          new Setup(
              needed(given, "--name"),
              port(given, "--port"),
              port(given, "--kv-port"),
              cuda == null ? null : Path.of(cuda));
      if (!given.isEmpty()) {
        throw new IllegalArgumentException("unknown options " + given.keySet() + "; " + USAGE);
      }
      return setup;
    }

    private static int port(Map<String, String> given, String name) {
      String value = needed(given, name);
      int port;
      try {
        port = Integer.parseInt(value);
      } catch (NumberFormatException e) {
        port = -1;
      }
      if (port < 0 || port > MOST_PORT) {
        throw new IllegalArgumentException(
            name + " is " + value + ", but must be a port; " + USAGE);
      }
      return port;
    }

    private static String needed(Map<String, String> given, String name) {
      String value = given.remove(name);
      if (value == null) {
        throw new IllegalArgumentException(name + " is missing; " + USAGE);
      }
      return value;
    }
  }

  private static void serve(Setup setup) throws IOException, InterruptedException {
    Telemetry telemetry = Telemetry.initTracing(setup.name());
    Device device = setup.cuda() == null ? Device.NONE : new CudaDevice(setup.cuda());
    CountDownLatch subscribed = new CountDownLatch(1);
    KvPublisher events =
        new KvPublisher(setup.kvPort(), "kv@" + setup.name() + "@demo", subscribed::countDown);
    DemoEngine engine = new DemoEngine(setup.port(), telemetry.openTelemetry(), events, device);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  engine.close();
                  telemetry.close();
                },
                "engine-shutdown"));
    System.out.printf(
        "%s: http://127.0.0.1:%d, " + SERVES + " %s%n",
        setup.name(),
        engine.port(),
        events.endpoint());
    // If the gateway started first, it may already have subscribed.
    subscribed.await();
    System.out.println(setup.name() + READY);
  }
}
