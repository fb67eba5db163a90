import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Opens thousands of slow streams through one sidecar, and reports memory, CPU time, lost streams, and silent streams (those without an event for 15 s). */
final class Streams {
  private static final long BAR_MEGABYTES = 600;
  private static final int PER_CLIENT = 4_000;
  private static final int EVENT_BYTES = 170;

  private final Workbench bench;
  private final int count;
  private final int seconds;
  private final List<Process> clients = new ArrayList<>();

  private Streams(Workbench bench, int count, int seconds) {
    this.bench = bench;
    this.count = count;
    this.seconds = seconds;
  }

  public static void main(String[] arguments) throws IOException {
    int wanted = 20_000;
    int seconds = 60;
    List<String> sidecarOptions = new ArrayList<>();
    for (String argument : arguments) {
      switch (argument.split("=")[0]) {
        case "--count" -> wanted = Integer.parseInt(argument.split("=")[1]);
        case "--seconds" -> seconds = Integer.parseInt(argument.split("=")[1]);
        default -> sidecarOptions.add(argument);
      }
    }
    if (Peer.EPOLL.missing() != null) {
      System.err.println(Peer.EPOLL.missing());
      System.exit(2);
    }
    int possible = Math.min(wanted, (descriptorLimit() - 500) / 2);
    if (possible < wanted) {
      System.out.printf(
          "The limit of %d open files (ulimit -n) allows %d of %d streams;"
        + " memory is extrapolated.%n",
          descriptorLimit(), possible, wanted);
    }
    try (Workbench bench = new Workbench()) {
      System.exit(new Streams(bench, possible, seconds).run(wanted, sidecarOptions) ? 0 : 1);
    } catch (InvalidRunException trouble) {
      System.err.println(trouble.getMessage());
      System.exit(1);
    }
  }

  private static int descriptorLimit() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/limits"))) {
      String line = lines.filter(l -> l.startsWith("Max open files")).findFirst().orElseThrow();
      return Integer.parseInt(line.split("\\s+")[4]);
    }
  }

  private boolean run(int wanted, List<String> options) throws IOException {
    Upstream upstream = Upstream.start(bench, 1 + count / 8_000);
    Server sidecar = Peer.startSidecar(bench, Workbench.freePort(), upstream, List.of(), options);
    sidecar.awaitAnswer("/v1/models");
    long before = sidecar.memoryMegabytes("VmRSS");
    open(sidecar, upstream);
    Map<String, Long> opened = nextLines();
    long cpu = sidecar.cpuNanos();
    System.out.printf(
        "%d streams opened, %d lost while opening%n", opened.get("held"), opened.get("lost"));
    Map<String, Long> held = nextLines();
    double cpuMicros = (sidecar.cpuNanos() - cpu) / 1e3;
    long events = Math.max(1, (held.get("bytes") - opened.get("bytes")) / EVENT_BYTES);
    long now = sidecar.memoryMegabytes("VmRSS");
    long peak = sidecar.memoryMegabytes("VmHWM");
    System.out.printf(
        "%d held for %d s, %.1f µs of CPU per event%n",
        held.get("held"), seconds, cpuMicros / events);
    System.out.printf(
        "RSS: %d MB before, %d MB while held, %d MB at its peak%n", before, now, peak);
    return judge(held.get("lost"), held.get("silent"), before + (peak - before) * wanted / count);
  }

  /** Starts the clients, each with its own source address: one address has too few ports. */
  private void open(Server sidecar, Upstream upstream) throws IOException {
    Load load = Load.disaggregated("/v1/chat/completions?mode=slow", 2_048, true, 0);
    for (int rest = count, i = 2; rest > 0; rest -= PER_CLIENT, i++) {
      List<String> command = load.command(bench, sidecar.port(), upstream);
      command.add("--connections=" + Math.min(rest, PER_CLIENT));
      command.add("--source=127.0.0." + i);
      command.add("--hold=" + seconds);
      clients.add(bench.startClient(command));
    }
  }

  /** Returns the sums of the figures in the next line of each client. */
  private Map<String, Long> nextLines() throws IOException {
    Map<String, Long> sums = new HashMap<>();
    for (Process client : clients) {
      String line = client.inputReader().readLine();
      if (line == null || !line.startsWith("held=")) {
        throw new InvalidRunException("Invalid run: a client failed: " + line);
      }
      for (String pair : line.split(" ")) {
        String[] parts = pair.split("=");
        sums.merge(parts[0], Long.valueOf(parts[1]), Long::sum);
      }
    }
    return sums;
  }

  private static boolean judge(long lost, long silent, long megabytes) {
    boolean ok = lost == 0 && silent == 0;
    System.out.printf(
        "%-7s streams     lost streams: %d, silent streams: %d; both must be 0%n",
        ok ? "ok" : "MISSED", lost, silent);
    boolean small = megabytes <= BAR_MEGABYTES;
    System.out.printf(
        "%-7s streams     at most %d MB: %d%n", small ? "ok" : "MISSED", BAR_MEGABYTES, megabytes);
    return ok && small;
  }
}
