package io.inferspan.ebpf.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.OwnCode;
import io.inferspan.ebpf.linux.SystemView;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Measures traps on this machine. */
class TrapMeterTest {

  /** {@code mov %edi,%eax; ret}: the kernel cannot emulate its first instruction, but steps it. */
  private static final String STEPPED = "89f8c3";

  @BeforeAll
  static void needsBpf() {
    TestObjects.assumeBpf();
  }

  @Test
  void trapAtAnInstructionThatIsStepped_takesLonger() {
    assumeTrue(SystemView.architecture().equals("amd64"), "needs x86-64");
    TrapMeter meter = TrapMeter.beforeAttaching(KernelFeatures.probe().uprobes());
    TrapTimes usual = meter.measure();
    TrapTimes stepped;
    try (OwnCode own = OwnCode.map(STEPPED)) {
      stepped = meter.measure(own);
    }

    assertThat(usual.measured()).isTrue();
    assertThat(usual.entryNanos()).isPositive();
    assertThat(usual.returnNanos()).isPositive();
    assertThat(stepped.entryNanos()).isGreaterThan(1.2 * usual.entryNanos());
  }
}
