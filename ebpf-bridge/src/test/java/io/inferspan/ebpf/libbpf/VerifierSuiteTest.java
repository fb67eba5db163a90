package io.inferspan.ebpf.libbpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeStatus;
import io.inferspan.ebpf.ChildProcess;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.Eventually;
import io.opentelemetry.api.OpenTelemetry;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Seven programs with one mistake each: the kernel refuses them, and the message says why. */
class VerifierSuiteTest {

  private static @Nullable EbpfBridge bridge;

  @BeforeAll
  static void attach() {
    TestObjects.assumeBpf();
    bridge =
        EbpfBridge.attach(
            Telemetry.using(OpenTelemetry.noop()),
            BridgeConfig.builder().ownThreads(false).build());
  }

  @AfterAll
  static void detach() {
    if (bridge != null) {
      bridge.close();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          null_lookup      | invalid mem access 'map_value_or_null' | compare the result of the lookup with NULL before using it
          out_of_bounds    | invalid access to map value             | check index and length against the size before the access
          illegal_helper   | bpf_redirect                            | call only helpers that this type of program may call
          stack_overflow   | off=-520                                | use at most 512 bytes of stack, and a per-CPU map for larger data
          endless_loop     | infinite loop detected                  | give the loop a bound that the verifier can see, or use bpf_loop
          write_to_context | invalid bpf_context access              | only read the context, and only at the offsets of its fields
          divide_by_zero   | div by zero                             | divide by something that is not always zero
          """)
  void badProgram_isRefusedWithReasonAndRemedy(String name, String verdict, String remedy) {
    try (BpfObject bad = TestObjects.open(name)) {
      BpfException refused = catchThrowableOfType(BpfException.class, bad::load);

      System.out.println(refused.getMessage());
      assertThat(refused.reason())
          .startsWith("the kernel's verifier refused program " + name + " of object " + name)
          .contains(name + ".bpf.c:")
          .contains(verdict)
          .doesNotContain("\n");
      assertThat(refused.remedy()).isEqualTo(remedy);
      assertThat(refused.log()).contains("processed ").contains(verdict);
    }
    try (BpfObject good = TestObjects.open("good").load()) {
      assertThat(good.program("on_call").fd()).as("a load after the refusal").isPositive();
    }
    long seen = programsStarted();
    ChildProcess.run(List.of("/bin/true"));
    Eventually.is("an event that the bridge reads", () -> programsStarted() > seen);
  }

  private static long programsStarted() {
    return Objects.requireNonNull(bridge).status().events().stream()
        .filter(events -> events.kind().equals("control.process_started"))
        .mapToLong(BridgeStatus.Events::read)
        .sum();
  }
}
