package io.inferspan.ebpf;

import static io.inferspan.ebpf.EngineRun.nanos;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.EngineRun.Load;
import io.inferspan.ebpf.EngineRun.Outputs;
import io.inferspan.ebpf.EngineRun.Ran;
import io.inferspan.testing.SpanRecord;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * An engine with vLLM's processes and without a plugin: the steps derived from its messages are
 * compared with the engine's own data. {@code -Dengine.requests} and {@code -Dengine.seed} have the
 * same meaning as for {@link EngineIT}.
 */
class EngineFramesIT {

  private static final List<String> RELEASES =
      List.of(
          "0.8.5", "0.9.0", "0.9.1", "0.9.2", "0.10.2", "0.11.0", "0.11.2", "0.14.0", "0.16.0",
          "0.19.1", "0.23.0");

  private static final int FIRST_ASYNCHRONOUS = 6;

  private static final String MEMBERS = "llm_d.engine.step.members";
  private static final String INFERRED = "llm_d.engine.step.members.inferred";

  /** The maximum difference between two clocks. */
  private static final long CLOCK_NANOS = 20_000;

  private long steps;
  private long observed;
  private long inferred;
  private long wronglyInferred;
  private long launches;
  private long attributed;
  private double worstError;

  @Test
  void synchronousEngine_launchesAndSharesAreCorrect() throws Exception {
    EngineRun run = play(new Load(64, 16, 1, 0, 7), "--release=0.16.0", "--sync");

    assertMembers(run);
    assertLaunches(run, 0.999);
    run.assertSharesAddUp();
    assertThat(run.named("llm_d.engine.decode"))
        .isNotEmpty()
        .allSatisfy(
            span ->
                assertThat(span.attributes())
                    .containsEntry("attribution.source", "frames")
                    .containsEntry("attribution.model", "equal")
                    .containsEntry("attribution.membership", "observed")
                    .containsEntry("attribution.coverage", 1.0));
  }

  /** This engine encodes its own frames, and reads, runs steps and writes on one thread. */
  @Test
  void secondEngine_membersLaunchesAndSharesAreCorrect() throws Exception {
    int wanted = Integer.getInteger("engine.requests", 96);
    for (EngineSchedule schedule : EngineSchedule.plain(wanted, Long.getLong("engine.seed", 12))) {
      assertCorrect(schedule);
    }
    report("second engine", wanted);
  }

  @Test
  void requestsWithTraceHeaders_noHeaderOrPromptIsExported() throws Exception {
    for (String engine : List.of("--sync", EngineRun.PLAIN)) {
      EngineRun run = play(new Load(16, 8, 1, 0, 7), "--release=0.19.1", engine, EngineRun.TRACING);

      assertMembers(run);
      assertThat(run.exported).isNotEmpty();
      EngineRun.CANARY.assertAbsentFrom(run.exported);
      assertThat(run.exported)
          .extracting(body -> new String(body, StandardCharsets.ISO_8859_1))
          .noneMatch(body -> canaryTokens().anyMatch(body::contains));
    }
  }

  /** Returns the token as encoded by msgpack, in the kernel's byte order, and by protobuf. */
  private static Stream<String> canaryTokens() {
    ByteBuffer token = ByteBuffer.allocate(4).putInt(EngineRun.CANARY_TOKEN);
    byte[] varint = new byte[5];
    for (int i = 0; i < varint.length; i++) {
      int seven = (EngineRun.CANARY_TOKEN >>> (7 * i)) & 0x7f;
      varint[i] = (byte) (seven | (i < 4 ? 0x80 : 0));
    }
    byte[] reversed = ByteBuffer.allocate(4).putInt(Integer.reverseBytes(token.getInt(0))).array();
    return Stream.of(token.array(), reversed, varint)
        .map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1));
  }

  @Test
  void asynchronousEngine_membersAreKnownAndLaunchesAreNotGuessed() throws Exception {
    EngineRun run = play(new Load(64, 16, 3, 0.2, 7), "--release=0.19.1", "--set=preempt=0.05");

    assertMembers(run);
    assertLaunches(run, 0);
  }

  /** A span with a coverage of 1 must be complete. */
  @Test
  void fullRing_incompleteSpansHaveACoverageBelowOne() throws Exception {
    EngineRun run =
        EngineRun.stalled(
            new Load(192, 192, 1, 0, 7), EngineRun.PLAIN, "--release=0.11.2", EngineRun.NO_PLUGIN);
    Map<Long, Ran> ranOf = ranOf(run);
    NavigableMap<Long, Outputs> sent = sent(run);
    int whole = 0;

    assertThat(run.lost).isPositive();
    for (SpanRecord step : steps(run)) {
      Outputs outputs = outputs(sent, step);
      if (isWhole(step)) {
        whole++;
        Set<String> requests = Objects.requireNonNull(outputs).requests();
        Ran ran = Objects.requireNonNull(ranOf.get(outputs.step()));
        assertThat(number(step, "llm_d.engine.step.launches")).isEqualTo(ran.launches());
        assertThat(number(step, MEMBERS) - number(step, INFERRED)).isEqualTo(requests.size());
        assertThat(requests).containsAll(linked(step, Map.of(), "observed"));
      }
    }
    assertThat(whole).isBetween(1, run.outputs.size() - 1);
    for (SpanRecord decode : run.named("llm_d.engine.decode")) {
      if (isWhole(decode)) {
        String name = name(decode.traceId());
        assertThat(number(decode, "llm_d.engine.steps"))
            .isEqualTo(
                run.outputs.stream().filter(one -> one.requests().contains(name)).count() - 1);
      }
    }
  }

  private static boolean isWhole(SpanRecord span) {
    return Double.valueOf(1).equals(span.attribute("attribution.coverage"));
  }

  private static String name(String traceId) {
    return "r" + (Long.parseLong(traceId, 16) - 0x1000);
  }

  @Test
  void unknownLayout_engineIsRefused() throws Exception {
    EngineRun run = play(new Load(8, 4, 1, 0, 7), "--release=0.16.0", "--set=extra_fields=1");

    assertThat(run.outputs).isNotEmpty();
    assertThat(run.spans).noneMatch(span -> span.name().startsWith("llm_d.engine."));
  }

  @Test
  void stepsOf256Requests_noObservedMemberIsWrong() throws Exception {
    assertThat(assertCorrect(EngineSchedule.crowd("0.10.2")).truth)
        .anyMatch(ran -> ran.tokens().size() == 256);
  }

  @Test
  void randomSchedules_noObservedMemberIsWrong() throws Exception {
    int wanted = Integer.getInteger("engine.requests", 120);
    Random random = new Random(Long.getLong("engine.seed", 12));
    int served = 0;
    while (served < wanted) {
      EngineSchedule schedule =
          EngineSchedule.random(random, RELEASES, FIRST_ASYNCHRONOUS, wanted, served);
      assertCorrect(schedule);
      served += schedule.load().requests();
    }
    report("engine", served);
  }

  private void report(String engine, int served) {
    System.out.printf(
        "%s without a plugin: %d requests, %d steps, %d members observed, 0 wrong; %d inferred,"
            + " %.1f %% wrong; %d of %d launches attributed, shares off by at most %.2f of their"
            + " bound%n",
        engine,
        served,
        steps,
        observed,
        inferred,
        inferred == 0 ? 0 : 100.0 * wronglyInferred / inferred,
        attributed,
        launches,
        worstError);
  }

  private EngineRun assertCorrect(EngineSchedule schedule) throws Exception {
    EngineRun run = play(schedule.load(), schedule.options().toArray(String[]::new));
    assertMembers(run);
    assertLaunches(run, schedule.isAsync() || schedule.ranks() > 1 ? 0 : 0.999);
    if (schedule.load().oneUnsampledOf() == 1) {
      run.assertSharesAddUp();
    }
    assertErrorsAreBounded(run);
    return run;
  }

  private static EngineRun play(Load load, String... options) throws Exception {
    List<String> all = new ArrayList<>(List.of(options));
    all.add(EngineRun.NO_PLUGIN);
    EngineRun run = EngineRun.of(load, TestKit.children().build(), all);
    assertThat(run.lost).as("%s %s", load, all).isZero();
    assertThat(run.unsent).as("spans that were not exported").isZero();
    return run;
  }

  private static List<SpanRecord> steps(EngineRun run) {
    return run.named("llm_d.engine.step").stream()
        .sorted(Comparator.comparingLong(span -> number(span, "llm_d.engine.step.number")))
        .toList();
  }

  /** Returns the outputs of a step's span, matched by time; null for a step without outputs. */
  private static @Nullable Outputs outputs(NavigableMap<Long, Outputs> sent, SpanRecord step) {
    if (number(step, MEMBERS) == number(step, INFERRED)) {
      return null;
    }
    Long before = sent.floorKey(step.endEpochNanos());
    Long after = sent.ceilingKey(step.endEpochNanos());
    boolean isAfter =
        before == null
            || (after != null && after - step.endEpochNanos() < step.endEpochNanos() - before);
    return sent.remove(Objects.requireNonNull(isAfter ? after : before));
  }

  private static NavigableMap<Long, Outputs> sent(EngineRun run) {
    NavigableMap<Long, Outputs> sent = new TreeMap<>();
    long offset = TestKit.epochOffsetNanos();
    run.outputs.stream()
        .filter(one -> !one.requests().isEmpty())
        .forEach(one -> sent.put(one.atNanos() + offset, one));
    return sent;
  }

  /** Checks that observed members are those in the engine's outputs, and that outputs were read. */
  private void assertMembers(EngineRun run) {
    Map<Long, Ran> ranOf = ranOf(run);
    NavigableMap<Long, Outputs> sent = sent(run);
    Map<String, List<SpanRecord>> below = new HashMap<>();
    run.named("llm_d.engine.step.members")
        .forEach(
            span -> below.computeIfAbsent(span.parentSpanId(), any -> new ArrayList<>()).add(span));
    for (SpanRecord step : steps(run)) {
      Outputs outputs = outputs(sent, step);
      Set<String> seen = linked(step, below, "observed");
      Set<String> maybe = linked(step, below, "inferred");
      steps++;
      if (outputs == null) {
        assertThat(seen).isEmpty();
        continue;
      }
      long members = number(step, MEMBERS) - number(step, INFERRED);
      assertThat(members).as("%s", outputs).isEqualTo(outputs.requests().size());
      assertThat(seen).as("%s", outputs).isEqualTo(sampled(run, outputs.requests()));
      observed += seen.size();
      inferred += maybe.size();
      maybe.removeAll(Objects.requireNonNull(ranOf.get(outputs.step())).tokens().keySet());
      wronglyInferred += maybe.size();
    }
    if (run.load.oneUnsampledOf() == 1 && run.load.aborts() == 0) {
      assertThat(sent).as("outputs that were not read").isEmpty();
    }
  }

  private static Map<Long, Ran> ranOf(EngineRun run) {
    Map<Long, Ran> ranOf = new HashMap<>();
    run.truth.forEach(ran -> ranOf.putIfAbsent(ran.step(), ran));
    return ranOf;
  }

  private static Set<String> sampled(EngineRun run, Set<String> names) {
    Set<String> sampled = new HashSet<>(names);
    sampled.removeIf(name -> !run.load.isSampled(name));
    return sampled;
  }

  private static Set<String> linked(
      SpanRecord step, Map<String, List<SpanRecord>> below, String membership) {
    List<SpanRecord> all = new ArrayList<>(below.getOrDefault(step.spanId(), List.of()));
    all.add(step);
    Set<String> names = new HashSet<>();
    for (SpanRecord span : all) {
      for (SpanRecord.LinkRecord link : span.links()) {
        if (membership.equals(link.attributes().get("attribution.membership"))) {
          names.add(name(link.traceId()));
        }
      }
    }
    return names;
  }

  /** Checks the attributed launches, and that at least the share {@code least} is attributed. */
  private void assertLaunches(EngineRun run, double least) {
    Map<Long, Ran> ranOf = ranOf(run);
    NavigableMap<Long, Outputs> sent = sent(run);
    long known = 0;
    for (SpanRecord step : steps(run)) {
      Outputs outputs = outputs(sent, step);
      boolean whole = isWhole(step);
      if (outputs != null && whole) {
        Ran ran = Objects.requireNonNull(ranOf.get(outputs.step()));
        assertThat(number(step, "llm_d.engine.step.launches")).isEqualTo(ran.launches());
      }
      known += whole ? number(step, "llm_d.engine.step.launches") : 0;
    }
    long all = run.truth.stream().mapToLong(Ran::launches).sum();
    launches += all;
    attributed += known;
    // While no sampled request is open, messages are not read.
    boolean always = run.load.oneUnsampledOf() == 1 && run.load.aborts() == 0;
    assertThat(known).isGreaterThanOrEqualTo(always ? (long) (least * all) : 0);
  }

  /** Checks shares: a request's true part of a step's busy time is its part of the device time. */
  private void assertErrorsAreBounded(EngineRun run) {
    NavigableMap<Long, Ran> ranAt = new TreeMap<>();
    long offset = TestKit.epochOffsetNanos();
    run.truth.forEach(ran -> ranAt.put(ran.beganNanos() + offset - CLOCK_NANOS, ran));
    Map<String, Double> shares = new HashMap<>();
    for (SpanRecord step : steps(run)) {
      double busy = nanos(step, "busy.ms");
      if (busy > 0) {
        Map<String, Long> costs = ranAt.floorEntry(step.startEpochNanos()).getValue().costs();
        double all = costs.values().stream().mapToLong(Long::longValue).sum();
        costs.forEach((name, cost) -> shares.merge(name, busy * cost / all, Double::sum));
      }
    }
    Map<String, List<SpanRecord>> spansOf =
        run.spans.stream().collect(Collectors.groupingBy(SpanRecord::traceId));
    shares.forEach(
        (name, share) -> {
          List<SpanRecord> spans = spansOf.getOrDefault(EngineRun.trace(name), List.of());
          if (!spans.isEmpty()) {
            double error = Math.abs(sum(spans, "llm_d.engine.share_ms") - share);
            double bound = sum(spans, "attribution.error_bound_ms");
            assertThat(error).as("%s", spans).isLessThanOrEqualTo(bound + 1_000);
            worstError = bound == 0 ? worstError : Math.max(worstError, error / bound);
          }
        });
  }

  private static long sum(List<SpanRecord> spans, String attribute) {
    return spans.stream().mapToLong(span -> nanos(span, attribute)).sum();
  }

  private static long number(SpanRecord span, String attribute) {
    return span.attribute(attribute) instanceof Long number ? number : 0;
  }
}
