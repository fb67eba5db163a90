import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Measures one scenario. The subjects take turns, forwards and backwards. The gateway without tracing has a turn before and after each; these two are the baseline, because the speed of a shared machine changes. */
final class Turns {
  /** The time to export a full queue of spans. */
  private static final long EXPORT_MILLIS = 100;

  /** Turns are shorter by this factor if only 0 % is measured: many short turns show a difference of one per cent, a few long ones do not. */
  private static final int FINER = 4;

  /** If only 0 % is measured, there are more rounds, by this factor. */
  private static final int MORE = 6;

  private static final int LEAST_WARM_UP_SECONDS = 30;
  private static final int MOST_WARM_UP_SECONDS = 100;

  /** The CPU share of the compilers below which the hot code counts as compiled. */
  private static final double AT_REST = 0.01;

  private final Gateways gateways;
  private final Case each;
  private final List<Subject> subjects;
  private final boolean quick;
  private final Case.Turn turn;
  private final int rounds;
  private final Map<Subject, List<Double>> micros = new EnumMap<>(Subject.class);
  private final Map<Subject, List<Double>> compiled = new EnumMap<>(Subject.class);
  private final Map<Subject, List<Double>> sent = new EnumMap<>(Subject.class);
  private final Map<Subject, List<Double>> ratios = new EnumMap<>(Subject.class);

  Turns(Gateways gateways, Case each, List<Subject> subjects, boolean quick) {
    this.gateways = gateways;
    this.each = each;
    this.subjects = subjects;
    this.quick = quick;
    boolean fine = subjects.equals(Subject.UNSAMPLED);
    Case.Turn coarse = each.turn();
    this.turn =
        fine
            ? new Case.Turn(coarse.load(), coarse.connections(), coarse.requests() / FINER)
            : coarse;
    this.rounds = each.rounds() * (fine ? MORE : 1) / (quick ? 3 : 1);
    for (Subject subject : subjects) {
      micros.put(subject, new ArrayList<>());
      compiled.put(subject, new ArrayList<>());
      sent.put(subject, new ArrayList<>());
      ratios.put(subject, new ArrayList<>());
    }
  }

  /** The CPU time of one request, the compilers' CPU time per request, and the exported bytes of its spans. */
  private record Cost(double micros, double compilerMicros, double sentBytes) {}

  void measure() throws IOException {
    warmUp();
    for (Subject subject : subjects) {
      ask(subject, turn);
    }
    List<Subject> order = new ArrayList<>(subjects);
    for (int round = 0; round < rounds; round++) {
      double before = ask(Subject.WITHOUT, turn).micros();
      for (Subject subject : order) {
        Cost cost = ask(subject, turn);
        double after = ask(Subject.WITHOUT, turn).micros();
        micros.get(subject).add(cost.micros());
        compiled.get(subject).add(cost.compilerMicros());
        sent.get(subject).add(cost.sentBytes());
        ratios.get(subject).add(2 * cost.micros() / (before + after));
        before = after;
      }
      Collections.reverse(order);
    }
  }

  /** Sends requests to all ports in turns until the compilers are idle, so that shared code is compiled for all subjects. Rarely executed code is compiled late, and costs several times as much before. Streams are warmed up with bursts, because a hundred bursts take the time of one stream. */
  private void warmUp() throws IOException {
    long start = System.nanoTime();
    double share;
    double seconds;
    do {
      double all = 0;
      double compilers = 0;
      for (Subject subject : subjects) {
        Cost cost = ask(subject, each.warmUp());
        all += cost.micros();
        compilers += cost.compilerMicros();
      }
      share = compilers / all;
      seconds = (System.nanoTime() - start) / 1e9;
    } while (seconds < LEAST_WARM_UP_SECONDS
        || (share > AT_REST && seconds < (quick ? 1 : 3) * MOST_WARM_UP_SECONDS));
    System.out.printf(
        "%n%s: after %.0f s of warm-up, compilers used %.1f %% of the CPU time of requests%n",
        each.name(), seconds, 100 * share);
  }

  private Cost ask(Subject subject, Case.Turn turn) throws IOException {
    Server server = gateways.serverOf(subject);
    Load load = turn.load().sampled(subject.sampledPercent);
    List<String> command =
        load.command(gateways.bench(), gateways.portOf(subject), gateways.upstream());
    command.add("--connections=" + turn.connections());
    command.add("--requests=" + turn.requests());
    long spanBytes = gateways.upstream().count("trace_bytes");
    CpuTime cpu = CpuTime.of(server.process());
    Load.Result result = Load.run(subject.label, command);
    boolean records = subject != Subject.WITHOUT && subject.sampledPercent > 0;
    if (records) {
      Server.pause(EXPORT_MILLIS); // otherwise, the rest of the export would count as a cost of the next subject
    }
    CpuTime after = CpuTime.of(server.process());
    long sentBytes = gateways.upstream().count("trace_bytes") - spanBytes;
    if (records && sentBytes == 0) {
      throw new InvalidRunException("Invalid run: no span of " + subject.label + " reached the collector.");
    }
    double answered = result.requests();
    return new Cost(
        after.since(cpu) / 1e3 / answered,
        after.compiledSince(cpu) / 1e3 / answered,
        sentBytes / answered);
  }

  void print() {
    System.out.printf(
        "%n%s: %s (%d connections, %d turns each)%n",
        each.name(), each.sentence(), turn.connections(), ratios.get(Subject.WITHOUT).size());
    System.out.printf(
        "  %-36s %9s %9s   %-15s %9s %12s%n",
        "", "CPU µs", "×", "middle half", "compilers", "bytes sent");
    for (Subject subject : subjects) {
      List<Double> all = ratios.get(subject);
      System.out.printf(
          "  %-36s %9.1f %9.3f   %.3f – %.3f   %9.1f %12.0f%n",
          subject.label,
          Figures.median(micros.get(subject)),
          Figures.median(all),
          quartile(all, 1),
          quartile(all, 3),
          average(compiled.get(subject)),
          average(sent.get(subject)));
    }
  }

  private static double average(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  private static double quartile(List<Double> values, int which) {
    return values.stream().sorted().toList().get((values.size() - 1) * which / 4);
  }

  boolean judge() {
    boolean met = true;
    for (Case.Bar bar : each.bars()) {
      if (!subjects.contains(bar.subject())) {
        continue;
      }
      double ratio = Figures.median(ratios.get(bar.subject()));
      boolean ok = ratio <= bar.most();
      System.out.printf(
          "%-7s %-6s %s at most %.2f × without: %.3f%n",
          ok ? "ok" : "MISSED", each.name(), bar.subject().label, bar.most(), ratio);
      met &= ok;
    }
    return met;
  }
}
