package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Measures how long policies take to decide, without the probe and the record. */
class PolicyCostIT {

  private static final long DECISIONS = 1_000_000;
  private static final int RUNS = 9;

  @Test
  void decision_takesLessThanTenMicroseconds() {
    TestObjects.assumeBpf();
    try (BpfObject costs = TestObjects.open("policy_cost").load();
        Arena arena = Arena.ofConfined()) {
      MemorySegment cost = arena.allocate(2 * JAVA_LONG.byteSize(), JAVA_LONG.byteAlignment());
      for (BpfProgram program : costs.programs()) {
        double[] nanos = new double[RUNS];
        for (int run = 0; run < RUNS; run++) {
          cost.set(JAVA_LONG, 0, DECISIONS);
          program.run(cost);
          nanos[run] = (double) cost.get(JAVA_LONG, 8) / DECISIONS;
        }
        Arrays.sort(nanos);
        System.out.printf(
            "%s: %.1f ns per decision (%.1f to %.1f)%n",
            program.name(), nanos[RUNS / 2], nanos[0], nanos[RUNS - 1]);

        assertThat(nanos[0]).as(program.name()).isPositive().isLessThan(10_000);
      }
    }
  }
}
