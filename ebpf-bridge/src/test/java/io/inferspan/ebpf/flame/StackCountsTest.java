package io.inferspan.ebpf.flame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;

class StackCountsTest {

  @Test
  void foldedText_isWrittenAsItWasRead() throws IOException {
    String text = "a;b 1\na;b c;operator new(unsigned long) 20\nd 3\n";

    assertThat(written(read(text))).isEqualTo(text);
  }

  @Test
  void countAfterASeparator_isRead() throws IOException {
    assertThat(read("a;b_[g];7\na;b_[g]; 8\n").sorted()).containsExactly(entry("a;b_[g]", 15L));
  }

  @Test
  void lineWithoutCount_isRefusedWithLineAndColumn() {
    assertThatThrownBy(() -> read("a;b 1\na;b\n"))
        .isInstanceOf(StackFormatException.class)
        .hasMessage("line 2, column 4: expected a count after the stack");
  }

  @Test
  void separatorsInNames_doNotSplitThem() throws IOException {
    StackCounts counts = new StackCounts(Unit.SAMPLES);
    counts.add(List.of("main", "f<[u8; 4]>", "with\nline"), 2);

    assertThat(written(counts)).isEqualTo("main;f<[u8, 4]>;with line 2\n");
  }

  @Test
  void stacksOfTwoProfiles_areAddedUp() throws IOException {
    StackCounts counts = read("a;b 1\nc 2\n");
    counts.addAll(read("a;b 5\nd 1\n"));

    assertThat(counts.sorted()).containsExactly(entry("a;b", 6L), entry("c", 2L), entry("d", 1L));
    assertThat(counts.total()).isEqualTo(9);
  }

  @Test
  void stacksOfATrace_areThoseBelowItsFrame() throws IOException {
    StackCounts counts = read("no trace;a 1\ntrace 12;a;b 2\ntrace 12;c 3\ntrace 123;a 4\n");

    assertThat(written(counts.ofTrace("12"))).isEqualTo("a;b 2\nc 3\n");
    assertThat(counts.ofTrace("1").sorted()).isEmpty();
  }

  @Test
  void stacksWithoutTraces_allBelongToTheGivenTrace() throws IOException {
    assertThat(written(read("a;b 2\n").ofTrace("12"))).isEqualTo("a;b 2\n");
  }

  @Test
  void perfettosTrace_hasAnArrowOfTheTraceFromTheCpuToTheGpu() throws IOException {
    StringBuilder json = new StringBuilder();
    PerfettoJson.write(
        read("main;\"launch\";-;gemm_[G] 5\nother 2\n"), "4bf92f3577b34da6a3ce929d0e0e4736", json);

    assertThat(json.toString())
        .contains("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\"")
        .contains(
            "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5,\"name\":\"\\\"launch\\\"\"}")
        .contains("{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":5,\"name\":\"gemm_[G]\"}")
        .contains("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":2,\"name\":\"other\"}")
        .containsOnlyOnce("{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"launch\"")
        .containsOnlyOnce("{\"ph\":\"f\",\"pid\":1,\"tid\":2,\"ts\":0,\"name\":\"launch\"")
        .contains("\"id2\":{\"global\":\"0x4bf92f3577b34da6a3ce929d0e0e4736\"}");
  }

  private static StackCounts read(String text) throws IOException {
    return FoldedText.read(new BufferedReader(new StringReader(text)), Unit.SAMPLES);
  }

  private static String written(StackCounts counts) throws IOException {
    StringBuilder text = new StringBuilder();
    FoldedText.write(counts, text);
    return text.toString();
  }
}
