import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Measures one scenario. Its servers run at the same time and take turns on the same core. */
final class Run {
  private final Workbench bench;
  private final Upstream upstream;
  private final Scenario scenario;
  private final boolean quick;
  private final Map<Peer, Server> servers = new LinkedHashMap<>();
  private final Map<Scenario.Subject, Figures> figures = new LinkedHashMap<>();

  /** The latency of direct requests to the upstream, in the same rounds. */
  private final Figures direct = new Figures();

  Run(Workbench bench, Upstream upstream, Scenario scenario, boolean quick) {
    this.bench = bench;
    this.upstream = upstream;
    this.scenario = scenario;
    this.quick = quick;
  }

  Report measure() throws IOException {
    long spanBytes = upstream.count("trace_bytes");
    try {
      start();
      List<Scenario.Subject> subjects = List.copyOf(figures.keySet());
      for (Scenario.Subject subject : subjects) {
        warmUp(subject);
      }
      for (int round = 0; round < (quick ? 3 : 5); round++) {
        runRound(subjects);
      }
      if (servers.containsKey(Peer.TRACED) && upstream.count("trace_bytes") == spanBytes) {
        throw new InvalidRunException("Invalid run: no span reached the collector, so tracing was not measured.");
      }
    } finally {
      servers.values().forEach(Server::close);
    }
    return new Report(scenario, figures, direct);
  }

  private void start() throws IOException {
    for (Scenario.Subject subject : scenario.subjects()) {
      if (subject.peer().missing() == null
          && (servers.containsKey(subject.peer()) || start(subject.peer()))) {
        figures.put(subject, new Figures());
      }
    }
  }

  private boolean start(Peer peer) throws IOException {
    Server server = peer == Peer.IO_URING ? startOverIoUring() : peer.start(bench, upstream);
    if (server == null) {
      return false;
    }
    servers.put(peer, server);
    if (scenario.load().prefill()) {
      Verification.of(server, upstream);
    }
    return true;
  }

  /** Starts the sidecar with io_uring; returns null if the machine forbids it. */
  private Server startOverIoUring() throws IOException {
    Server server;
    try {
      server = Peer.IO_URING.start(bench, upstream);
    } catch (InvalidRunException trouble) {
      System.err.println("Skipping io_uring: " + trouble.getMessage());
      return null;
    }
    if (!server.usesIoUring()) {
      System.err.println(
          "The sidecar does not use io_uring; the machine may forbid it. Its last output: "
              + server.lastOutput());
      server.close();
      return null;
    }
    return server;
  }

  /** Warms up until two batches in a row cost the same, and until the JVM has recompiled code after its assumptions failed, for example when a connection first closes. */
  private void warmUp(Scenario.Subject subject) throws IOException {
    long start = System.nanoTime();
    long least = TimeUnit.SECONDS.toNanos(!subject.peer().isJvm() ? 0 : quick ? 10 : 60);
    double before = 0;
    double now = ask(subject, 0).cpuMicros();
    while (System.nanoTime() - start < least
        || (Math.abs(now / before - 1) > 0.05 && subject.peer().isJvm())) {
      if (System.nanoTime() - start > 3 * least) {
        return;
      }
      before = now;
      now = ask(subject, 0).cpuMicros();
    }
  }

  private void runRound(List<Scenario.Subject> subjects) throws IOException {
    int rate = scenario.pace().ratePerSecond();
    if (rate > 0) {
      List<String> command = command(upstream.port(), scenario.load(), rate);
      direct.add(0, Load.run("the upstream", command));
    }
    for (Scenario.Subject subject : subjects) {
      Measured measured = ask(subject, rate);
      figures.get(subject).add(measured.cpuMicros(), measured.result());
    }
  }

  private record Measured(double cpuMicros, Load.Result result) {}

  private Measured ask(Scenario.Subject subject, int rate) throws IOException {
    Server server = servers.get(subject.peer());
    long prefills = upstream.count("prefills");
    long cpu = server.cpuNanos();
    Load load = scenario.load().sampled(subject.sampledPercent());
    Load.Result result = Load.run(subject.label(), command(server.port(), load, rate));
    double micros = (server.cpuNanos() - cpu) / 1e3 / result.requests();
    long prefilled = upstream.count("prefills") - prefills;
    if (prefilled != (load.prefill() ? result.requests() : 0)) {
      throw new InvalidRunException(
          "Invalid run: "
              + prefilled
              + " prefills for "
              + result.requests()
              + " requests of "
              + server.name()
              + ".");
    }
    return new Measured(micros, result);
  }

  private List<String> command(int port, Load load, int rate) {
    Scenario.Pace pace = scenario.pace();
    List<String> command = load.command(bench, port, upstream);
    command.add("--connections=" + pace.connections());
    command.add("--requests=" + (quick ? pace.requests() / 2 : pace.requests()));
    command.add("--rate=" + rate);
    return command;
  }
}
