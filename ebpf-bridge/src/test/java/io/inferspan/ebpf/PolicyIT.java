package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.libbpf.loaded.LoadedProgram;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.policy.Parameters;
import io.inferspan.ebpf.policy.PolicyObject;
import io.inferspan.ebpf.policy.PolicySlots;
import io.inferspan.ebpf.policy.Role;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Capture policies in a running bridge. */
class PolicyIT {

  private static final String TRACEPARENT =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static final int DEFAULT_FLOOR = 0;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  /**
   * {@code ./check --long} sets 30 seconds, in which a million calls and 100 swaps are expected.
   */
  private static final int SECONDS = Integer.getInteger("ebpf.policy.seconds", 3);

  private static final boolean LONG = SECONDS >= 30;

  private EbpfBridge bridge;
  private JavaChild keeper;

  @BeforeEach
  void attach() {
    String load = TestKit.directory().resolve("load").toString();
    // Observes every process: a load begins its request before its pid could be selected.
    bridge =
        EbpfBridge.attach(
            Telemetry.using(tracing.openTelemetry()),
            BridgeConfig.builder().ownThreads(false).build());
    keeper = JavaChild.start(List.of(load, "120", "1", "", "10"), Map.of());
    TestKit.awaitLibrary(bridge, "libcuda.so.1");
    TestKit.awaitLibrary(bridge, "load");
  }

  @AfterEach
  void detach() {
    keeper.close();
    bridge.close();
  }

  @Test
  void swapsUnderLoad_eachCallIsCountedOnce() throws Exception {
    List<PolicySlots.Swap> swaps = new ArrayList<>();
    Process flood = flood(0);
    try (PolicySlots slots = PolicySlots.open()) {
      do {
        swaps.add(swap(slots, "keep-all", Parameters.DEFAULTS));
        swaps.add(swap(slots, "rate-limit", new Parameters(0, 10_000, 0, 0)));
      } while (flood.isAlive());
      long calls = calls(flood);
      bridge.close();

      report(calls, swaps, slots);
      assertThat(swaps).hasSizeGreaterThan(LONG ? 99 : 5);
      assertThat(calls).isGreaterThanOrEqualTo(LONG ? 1_000_000 : 10_000);
      assertThat(bridge.status().losses()).containsEntry("kernel.ring_full", 0L);
      assertThat(sum(span -> number(span, "inferspan.ebpf.count", 1))).isEqualTo(calls);
      assertThat(sum(span -> number(span, "inferspan.ebpf.cuda.blocks", 0)))
          .as("each call once, by the number that it carries")
          .isEqualTo(blocks(calls));
      assertThat(slots.count(PolicyCount.FOLDED)).isPositive();
      assertThat(slots.count(PolicyCount.DROPPED)).isZero();
    }
  }

  @Test
  void policyDropsAllCalls_theyAreCountedAndTheFloorIsKept() throws Exception {
    try (PolicySlots slots = PolicySlots.open();
        PolicyObject drop = PolicyObject.of("drop_all", TestObjects.bytes("drop_all"))) {
      slots.swap(drop, Parameters.DEFAULTS, 10);
      long calls = calls(flood(20_000));
      bridge.close();

      long seen = sum(span -> number(span, "inferspan.ebpf.count", 1));
      long dropped = slots.count(PolicyCount.DROPPED);
      assertThat(seen + dropped).isEqualTo(calls);
      assertThat(seen).isBetween(calls / 11, calls / 9);
      List<SpanRecord> launches = launches().toList();
      // All spans of one part of the request state the number of calls that the part lost.
      assertThat(
              launches.stream()
                  .mapToLong(span -> number(span, "inferspan.ebpf.dropped", 0))
                  .distinct()
                  .sum())
          .isEqualTo(dropped);
      assertThat(launches)
          .allSatisfy(
              span ->
                  assertThat((Double) span.attribute("inferspan.ebpf.coverage"))
                      .isBetween(0.01, 0.2));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null_lookup",
        "out_of_bounds",
        "illegal_helper",
        "stack_overflow",
        "endless_loop",
        "write_to_context",
        "divide_by_zero"
      })
  void rejectedPolicy_currentOneStaysInEffect(String name) throws Exception {
    try (PolicySlots slots = PolicySlots.open();
        PolicyObject bad = PolicyObject.of(name, TestObjects.bytes(name))) {
      int generation = swap(slots, "keep-all", Parameters.DEFAULTS).generation();

      assertThatThrownBy(() -> slots.swap(bad, Parameters.DEFAULTS, DEFAULT_FLOOR))
          .isInstanceOf(BpfException.class)
          .hasMessageContaining("verifier refused program " + name)
          .hasMessageContaining(name + ".bpf.c:");

      assertThat(slots.current())
          .containsExactly(new PolicySlots.Loaded(Role.POLICY, "keep_all", generation));
      try (JavaChild calls = launches(2_000, Map.of())) {
        Eventually.is("calls of the old policy", () -> slots.count(PolicyCount.KEPT) > 0);
      }
    }
  }

  @Test
  void rollback_restoresThePreviousPolicyAsANewGeneration() throws Exception {
    try (PolicySlots slots = PolicySlots.open()) {
      assertThatThrownBy(() -> slots.rollback(Role.POLICY)).hasMessageContaining("no previous");
      int first = swap(slots, "keep-all", Parameters.DEFAULTS).generation();
      int second = swap(slots, "slow-only", Parameters.DEFAULTS).generation();

      PolicySlots.Loaded back = slots.rollback(Role.POLICY);

      assertThat(back.name()).isEqualTo("keep_all");
      assertThat(List.of(first, second, back.generation())).isSorted().doesNotHaveDuplicates();
      assertThat(slots.current()).containsExactly(back);
      assertThat(slots.previous(Role.POLICY)).extracting("name").isEqualTo("slow_only");
      calls(flood(20_000));
      slots.off();
      bridge.close();
      assertThat(launches().filter(span -> span.attribute("inferspan.ebpf.count") == null))
          .as("those that the floor kept, too")
          .isNotEmpty()
          .allSatisfy(
              span ->
                  assertThat(span.attribute("inferspan.ebpf.policy.generation"))
                      .isEqualTo((long) back.generation()));
    }
  }

  @Test
  void killedBridge_removesItsPolicies() throws Exception {
    try (JavaChild killed =
        JavaChild.start(BridgeProcess.class, Map.of("OTEL_TRACES_EXPORTER", "none"))) {
      assertThat(killed.line()).isEqualTo("attached");
      KernelObjects held = KernelObjects.of(killed.pid());
      try (PolicySlots slots = PolicySlots.open()) {
        swap(slots, "latency", Parameters.DEFAULTS);
        swap(slots, "keep-all", Parameters.DEFAULTS);
        swap(slots, "slow-only", Parameters.DEFAULTS);
      }
      List<LoadedProgram> policies =
          LoadedProgram.all().stream()
              .filter(program -> !held.programs().contains(program.number()))
              .filter(program -> !Collections.disjoint(program.maps(), held.maps()))
              .toList();
      assertThat(policies)
          .extracting(LoadedProgram::name)
          .containsExactlyInAnyOrder("latency", "keep_all", "slow_only");
      for (LoadedProgram policy : policies) {
        held.programs().add(policy.number());
        held.maps().addAll(policy.maps());
      }

      killed.kill();

      TestKit.await("the kernel to free all objects", () -> held.alive().isEmpty());
    }
  }

  /** Calls become twenty times slower for a while, and then as fast as before. */
  @Test
  void profilerAndPolicy_raiseDetailUnderContentionAndLowerItAfterwards() throws Exception {
    try (PolicySlots slots = PolicySlots.open()) {
      swap(slots, "latency", Parameters.DEFAULTS);
      swap(slots, "adaptive", Parameters.DEFAULTS);
      JavaChild usual = launches(2_000, Map.of());
      try (usual) {
        Phase baseline = new Phase(slots, 0.25);
        Eventually.is("little detail", baseline::isBelow);
        Phase contention = new Phase(slots, 0.5);
        try (JavaChild slow = launches(2_000, Map.of("FAKE_CUDA_SCRIPT", "cuLaunchKernel=100us"))) {
          Eventually.is("full detail", contention::isAbove);
        }
        Phase recovery = new Phase(slots, 0.25);
        Eventually.is("little detail again", recovery::isBelow);
        System.out.printf(
            "share of launches kept: %.3f as usual, %.3f under contention, %.3f after it%n",
            baseline.kept, contention.kept, recovery.kept);
      }
    }
  }

  /**
   * Prints the run time of the programs per call, including the clock readings of the statistics.
   */
  @Test
  void policies_costLessThanAHundredMicrosecondsPerCall() throws Exception {
    try (PolicySlots slots = PolicySlots.open();
        FileDescriptor stats = RunStats.enable();
        JavaChild calls = launches(20_000, Map.of())) {
      double none = nanosOfACall();
      System.out.printf("no policy: %.0f ns a call%n", none);
      // The profiler before adaptive, which needs it.
      for (String name :
          List.of("keep-all", "rate-limit", "slow-only", "slo", "latency", "adaptive")) {
        swap(slots, name, Parameters.DEFAULTS);
        double more = nanosOfACall() - none;
        System.out.printf("%s: %+.0f ns a call%n", name, more);
        assertThat(more).as(name).isLessThan(100_000);
      }
    }
  }

  private double nanosOfACall() {
    BridgeStatus.Program before = runs();
    Eventually.is("calls", () -> runs().runs() - before.runs() > 20_000);
    BridgeStatus.Program now = runs();
    return 2.0 * (now.runNanos() - before.runNanos()) / (now.runs() - before.runs());
  }

  /**
   * Returns the sum over the programs at the entry and the exit of calls, which may be one program.
   */
  private BridgeStatus.Program runs() {
    return bridge.status().programs().stream()
        .filter(program -> program.object().equals("calls"))
        .reduce(
            (one, other) ->
                new BridgeStatus.Program(
                    "calls",
                    "",
                    true,
                    "",
                    one.runs() + other.runs(),
                    one.runNanos() + other.runNanos()))
        .orElseThrow();
  }

  /** The share of calls that the policy kept among the last 500. */
  private static final class Phase {

    private static final int CALLS = 500;

    private final PolicySlots slots;
    private final double limit;
    private long keptBefore;
    private long foldedBefore;
    private double kept = Double.NaN;

    Phase(PolicySlots slots, double limit) {
      this.slots = slots;
      this.limit = limit;
      this.keptBefore = slots.count(PolicyCount.KEPT);
      this.foldedBefore = slots.count(PolicyCount.FOLDED);
    }

    boolean isBelow() {
      update();
      return kept < limit;
    }

    boolean isAbove() {
      update();
      return kept > limit;
    }

    private void update() {
      long keptNow = slots.count(PolicyCount.KEPT) - keptBefore;
      long foldedNow = slots.count(PolicyCount.FOLDED) - foldedBefore;
      if (keptNow + foldedNow >= CALLS) {
        kept = (double) keptNow / (keptNow + foldedNow);
        keptBefore += keptNow;
        foldedBefore += foldedNow;
      }
    }
  }

  private static JavaChild launches(int perSecond, Map<String, String> environment) {
    String load = TestKit.directory().resolve("load").toString();
    return JavaChild.start(
        List.of(load, "600", "1", TRACEPARENT, Integer.toString(perSecond)), environment);
  }

  private static PolicySlots.Swap swap(PolicySlots slots, String name, Parameters parameters)
      throws IOException {
    try (PolicyObject policy = PolicyObject.open(name)) {
      return slots.swap(policy, parameters, DEFAULT_FLOOR);
    }
  }

  private Process flood(int perSecond) throws IOException {
    String load = TestKit.directory().resolve("load").toString();
    return new ProcessBuilder(
            load, Integer.toString(SECONDS), "1", TRACEPARENT, Integer.toString(perSecond))
        .start();
  }

  /** Waits for the end of a load, and returns the number of calls that it made. */
  private static long calls(Process flood) throws Exception {
    String said = new String(flood.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(flood.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return Long.parseLong(said.substring(0, said.indexOf(' ')));
  }

  private Stream<SpanRecord> launches() {
    return tracing.spans().stream().filter(span -> span.name().startsWith("cuda.launch"));
  }

  private long sum(ToLongFunction<SpanRecord> value) {
    return launches().mapToLong(value).sum();
  }

  private static long number(SpanRecord span, String attribute, long otherwise) {
    return span.attribute(attribute) instanceof Long value ? value : otherwise;
  }

  /** Returns the sum of the grid sizes that the load passes to this number of launches. */
  private static long blocks(long calls) {
    long sum = 0;
    for (long i = 0; i < calls; i++) {
      sum += (i & 0xffff) + 1;
    }
    return sum;
  }

  private static void report(long calls, List<PolicySlots.Swap> swaps, PolicySlots slots) {
    long[] updates = swaps.stream().mapToLong(PolicySlots.Swap::swapNanos).sorted().toArray();
    long[] loads = swaps.stream().mapToLong(PolicySlots.Swap::loadNanos).sorted().toArray();
    System.out.printf(
        "%d calls over %d swaps: %d kept, %d folded; swap p50 %d us, p99 %d us; verify and load p50"
            + " %.1f ms, p99 %.1f ms%n",
        calls,
        swaps.size(),
        slots.count(PolicyCount.KEPT),
        slots.count(PolicyCount.FOLDED),
        at(updates, 50) / 1_000,
        at(updates, 99) / 1_000,
        at(loads, 50) / 1e6,
        at(loads, 99) / 1e6);
  }

  private static long at(long[] sorted, int percent) {
    return sorted[sorted.length * percent / 100];
  }
}
