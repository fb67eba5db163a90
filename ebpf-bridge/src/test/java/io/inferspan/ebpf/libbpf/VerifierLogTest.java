package io.inferspan.ebpf.libbpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerifierLogTest {

  @Test
  void verdict_isTheLineBeforeTheStatistics() {
    VerifierLog log =
        VerifierLog.of(
            """
            0: R1=ctx() R10=fp0
            ; count += 1; @ x.bpf.c:14
            7: (79) r1 = *(u64 *)(r0 +0)
            R0 invalid mem access 'map_value_or_null'
            processed 8 insns (limit 1000000) max_states_per_insn 0 total_states 0
            """);

    assertThat(log.verdict()).isEqualTo("R0 invalid mem access 'map_value_or_null'");
    assertThat(log.source()).isEqualTo("count += 1; @ x.bpf.c:14");
    assertThat(log.advice()).contains("NULL");
  }

  @Test
  void verdictOfTwoLines_isTheFirstLine() {
    VerifierLog log =
        VerifierLog.of(
            """
            invalid access to map value, value_size=64 off=120 size=8
            R0 max value is outside of the allowed memory range
            processed 12 insns (limit 1000000)
            """);

    assertThat(log.verdict()).startsWith("invalid access to map value");
  }

  @Test
  void verdictBeforeTheStatesOfALoop_isFound() {
    VerifierLog log =
        VerifierLog.of(
            """
            infinite loop detected at insn 0
            cur state: R0=scalar() R10=fp0
            old state: R0=scalar() R10=fp0
            processed 3 insns (limit 1000000)
            """);

    assertThat(log.verdict()).isEqualTo("infinite loop detected at insn 0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          unknown func bpf_redirect#23                                          | helpers
          program of this type cannot use helper bpf_redirect#23                | helpers
          invalid stack type R10 off=-520 access_size=8                         | 512 bytes
          combined stack size of 2 calls is 640. Too large                      | 512 bytes
          back-edge from insn 7 to 3                                            | bound
          BPF program is too large. Processed 1000001 insn                      | bound
          The sequence of 8193 jumps is too complex                             | bound
          R2 unbounded memory access, make sure to bounds check any such access | index and length
          R1 invalid mem access 'scalar'                                        | bpf_probe_read
          cannot pass map_type 7 into func bpf_map_lookup_elem#1                | its type
          R2 type=ctx expected=fp, pkt, pkt_meta, map_key                       | copy on the stack
          Unreleased reference id=2 alloc_insn=9                                | every path
          a verdict that no rule matches                                        | full log
          """)
  void verdictsOfAllKernels_haveAdvice(String verdict, String advice) {
    VerifierLog log = VerifierLog.of(verdict + "\nprocessed 3 insns (limit 1000000)\n");

    assertThat(log.verdict()).isEqualTo(verdict);
    assertThat(log.advice()).contains(advice);
  }

  @ParameterizedTest
  @CsvSource({"''", "'\n \n'", "'processed 0 insns\n'"})
  void logWithoutVerdict_isEmpty(String text) {
    assertThat(VerifierLog.of(text).isEmpty()).isTrue();
  }

  @Test
  void randomText_neverThrows() {
    long seed = 7;
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    String alphabet = "R1 ;\n'()#_-0invalid mem access processed";
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int chars = random.nextInt(80); chars > 0; chars--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      VerifierLog log = VerifierLog.of(text.toString());
      if (!log.isEmpty()) {
        assertThat(log.verdict()).isNotBlank().doesNotContain("\n");
        assertThat(log.source()).doesNotContain("\n");
      }
    }
  }
}
