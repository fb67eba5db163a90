import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the time from exec to the first request served, and the memory of an idle sidecar, with
 * and without an AOT cache.
 */
final class Startup {
  private static final double BAR_MILLIS = 400;
  private static final double BAR_MEGABYTES = 120;

  private final Workbench bench;
  private final Upstream upstream;
  private final List<String> options;

  private Startup(Workbench bench, Upstream upstream, List<String> options) {
    this.bench = bench;
    this.upstream = upstream;
    this.options = options;
  }

  public static void main(String[] arguments) throws IOException {
    if (Peer.EPOLL.missing() != null) {
      System.err.println(Peer.EPOLL.missing());
      System.exit(2);
    }
    try (Workbench bench = new Workbench()) {
      System.exit(new Startup(bench, Upstream.start(bench, 1), List.of(arguments)).run() ? 0 : 1);
    } catch (InvalidRunException trouble) {
      System.err.println(trouble.getMessage());
      System.exit(1);
    }
  }

  private boolean run() throws IOException {
    Path cache = bench.folder().resolve("sidecar.aot");
    train(cache);
    Starts plain = new Starts();
    Starts cached = new Starts();
    for (int round = 0; round < 5; round++) {
      start(plain, List.of());
      start(cached, List.of("-XX:AOTCache=" + cache));
    }
    plain.print("without a cache");
    cached.print("with an AOT cache of " + cache.toFile().length() / 1_000_000 + " MB");
    return judge("first request served, ms", Figures.median(cached.served), BAR_MILLIS)
        & judge("idle RSS, MB", Figures.median(cached.megabytes), BAR_MEGABYTES);
  }

  private static boolean judge(String what, double figure, double most) {
    boolean ok = figure <= most;
    System.out.printf(
        "%-7s startup     %s, at most %.0f: %.0f%n", ok ? "ok" : "MISSED", what, most, figure);
    return ok;
  }

  /** Writes an AOT cache with the same training run as the Dockerfile. */
  private void train(Path cache) throws IOException {
    List<String> command = new ArrayList<>(Peer.java());
    command.addAll(
        List.of(
            "-XX:AOTCacheOutput=" + cache,
            "-cp",
            Peer.SIDECAR.toString(),
            "io.inferspan.pd.TrainingRun"));
    bench.build("the AOT cache", command.toArray(String[]::new));
    if (!cache.toFile().exists()) {
      throw new InvalidRunException("The JVM did not write an AOT cache at the end of its training run.");
    }
  }

  private Server launch(List<String> javaFlags) throws IOException {
    return Peer.startSidecar(bench, Workbench.freePort(), upstream, javaFlags, options);
  }

  private void start(Starts starts, List<String> javaFlags) throws IOException {
    long begin = System.nanoTime();
    try (Server sidecar = launch(javaFlags)) {
      sidecar.awaitAnswer("/health");
      starts.healthy.add((System.nanoTime() - begin) / 1e6);
      sidecar.awaitAnswer("/v1/models");
      starts.served.add((System.nanoTime() - begin) / 1e6);
      Server.pause(2_000); // measures the idle state after the JVM's startup work
      starts.megabytes.add((double) sidecar.memoryMegabytes("VmRSS"));
    }
  }

  private record Starts(List<Double> healthy, List<Double> served, List<Double> megabytes) {
    Starts() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    void print(String what) {
      System.out.printf(
          "%s: /health after %.0f ms, first request served after %.0f ms (%.0f – %.0f), idle RSS"
              + " %.0f MB%n",
          what,
          Figures.median(healthy),
          Figures.median(served),
          Figures.least(served),
          Figures.most(served),
          Figures.median(megabytes));
    }
  }
}
