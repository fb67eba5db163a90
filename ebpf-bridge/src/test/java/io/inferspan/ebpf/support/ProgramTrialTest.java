package io.inferspan.ebpf.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.Prerequisite;
import io.inferspan.ebpf.Prerequisite.State;
import io.inferspan.ebpf.kernel.ProgramState;
import io.inferspan.ebpf.libbpf.TestObjects;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The trial of the bridge's programs, whose result {@code doctor} prints. */
class ProgramTrialTest {

  @Test
  void everyObject_isAvailableOnThisMachine() {
    TestObjects.assumeBpf();

    assertThat(EbpfSupport.tryOut().prerequisites())
        .filteredOn(one -> one.name().startsWith("programs: "))
        .allMatch(one -> one.state() == State.AVAILABLE)
        .extracting(Prerequisite::name)
        .containsExactly(
            "programs: context",
            "programs: process",
            "programs: sched",
            "programs: tcp",
            "programs: calls",
            "programs: ckp");
  }

  @Test
  void refusedObject_isALimitationWithTheVerifiersVerdict() {
    ProgramState refused = new ProgramState("calls", "*", "R6 unbounded memory access", 0, 0);
    ProgramState loaded = new ProgramState("sched", "sched_switch", "", 0, 0);

    List<Prerequisite> rows = ProgramTrial.rows(List.of(refused, loaded));

    assertThat(rows.get(0).state()).isEqualTo(State.LIMITED);
    assertThat(rows.get(0).found()).isEqualTo("without *: R6 unbounded memory access");
    assertThat(rows.get(0).remedy()).contains("report this line");
    assertThat(rows.get(1)).isEqualTo(Prerequisite.available("programs: sched", "sched_switch"));
  }

  @Test
  void programThatNeedsANewerKernel_isNotToBeReported() {
    ProgramState sent = new ProgramState("tcp", "tcp_sent", "needs Linux 6.3", 0, 0);

    assertThat(ProgramTrial.rows(List.of(sent)).get(0).remedy()).isEmpty();
  }
}
