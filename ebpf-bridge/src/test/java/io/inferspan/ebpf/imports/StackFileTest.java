package io.inferspan.ebpf.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.ebpf.flame.Unit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StackFileTest {

  private static final String CURRENT =
      """
      string|1|python3.11
      string|2|_start;main;zeCommandListAppendLaunchKernel
      string|3|gemm.cl
      string|4|gemm
      interval|0|12.000000
      kernel|0xffff80|1|4711|2|3|4
      string|5|mad (8) r10
      eustall|0x40|5|12|0|0|3|0|7|0|0|0|1
      eustall|0x48|5|0|0|0|0|0|0|0|0|0|0
      metric|frequency-MHz|1550
      interval|1|12.010000
      kernel|0xffff80|1|4711|2|3|4
      eustall|0x40|5|8|0|0|0|0|0|0|0|0|0
      """;

  private static final String OLDER =
      """
      string|1|python3.11
      string|2|_start;main;
      string|3|gemm.cl
      string|4|gemm
      string|5|mad (8) r10
      string|6|sbid
      interval_start|0|12.000000
      proc_name|1
      pid|4711
      ustack|2
      kstack|0
      shader_type|1
      gpu_file|3
      gpu_symbol|4
      insn_text|5
      e|9|6|40|12
      e|9|6|48|1
      interval_end|0
      interval_start|1|12.010000
      e|9|6|40|3
      """;

  /** The format in iaprof's documentation, in which lines define the ids. */
  private static final String DOCUMENTED =
      """
      STRING;1;python3.11
      STRING;5;zeCommandListAppendLaunchKernel
      PROC_NAME;1;12345
      USTACK;100;0x7f8000001234;0x7f8000005678
      KSTACK;200;0xffffffffc0123456
      GPU_FILE;10;my_kernel.cpp
      GPU_SYMBOL;11;my_compute_kernel
      INSN_TEXT;20;mad(8) r10.0<1>:f
      EUSTALL;1;12345;100;200;10;11;20;1;0x40;1234
      """;

  @TempDir private Path directory;

  @Test
  void currentFormatOfIaprof_isOneStackForEachReason() throws IOException {
    String begin =
        "python3.11;4711;_start;main;zeCommandListAppendLaunchKernel;-;gemm.cl_[G];gemm_[G];mad (8)"
            + " r10_[g];";

    assertThat(read(CURRENT.replace('|', '\t')))
        .containsExactly(
            entry(begin + "active_[g];0x40_[g]", 20L),
            entry(begin + "sbid_[g];0x40_[g]", 7L),
            entry(begin + "send_[g];0x40_[g]", 3L),
            entry(begin + "tdr_[g];0x40_[g]", 1L));
  }

  @Test
  void olderFormatOfIaprof_keepsAFieldUntilItChanges() throws IOException {
    String begin = "python3.11;4711;_start;main;-;gemm.cl_[G];gemm_[G];mad (8) r10_[g];sbid_[g];";

    assertThat(read(OLDER.replace('|', '\t')))
        .containsExactly(entry(begin + "0x40_[g]", 15L), entry(begin + "0x48_[g]", 1L));
  }

  @Test
  void documentedFormatOfIaprof_isRead() throws IOException {
    assertThat(read(DOCUMENTED))
        .containsExactly(
            entry(
                "python3.11;12345;0x7f8000001234;0x7f8000005678;0xffffffffc0123456;-;my_kernel.cpp_[G];my_compute_kernel_[G];mad(8)"
                    + " r10.0<1>:f_[g];active_[g];0x40_[g]",
                1234L));
  }

  @Test
  void foldedStacksOfIaprofsScript_getTheNamesOfTheirReasons() throws IOException {
    assertThat(read("p;1;main;-;f.cl_[G];k_[G];mad_[g];5_[g];0x40_[g] 3\n"))
        .containsExactly(entry("p;1;main;-;f.cl_[G];k_[G];mad_[g];sbid_[g];0x40_[g]", 3L));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "string|1 ! line 1, column 9: expected 3 fields, not 2",
        "string|1|a~nonsense|2 ! line 2, column 1: expected a kind of line that iaprof writes, not"
            + " 'nonsense'",
        "string|1|a~eustall|0x40|1|1|1|1|1|1|1|1|1|1|1 ! line 2, column 1: expected a line 'kernel'"
            + " before this one",
        "string|1|a~kernel|0x1|1|x|1|1|1 ! line 2, column 14: expected a number, not 'x'",
        "string|1|a~kernel|0x1|7|1|1|1|1 ! line 2, column 12: expected the id of a string, not '7'",
        "string|1|a~e|1|1|40|1 ! line 2, column 1: expected a line ",
        "a;b ! line 1, column 4: expected a count after the stack",
        "{\"a\":1} ! line 1, column 8: expected a list \"traceEvents\"",
        "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]} ! expected a number \"dur\" in this event",
        "{\"traceEvents\":[{\"ph\":~oops ! line 2, column 5: expected JSON",
        "{\"traceEvents\":[1]} ! line 1, column 18: expected an object"
      })
  void malformedFile_isRefusedWithLineAndColumn(String text, String message) {
    assertThatThrownBy(() -> read(text.replace('|', '\t').replace('~', '\n')))
        .isInstanceOf(StackFormatException.class)
        .hasMessageContaining(message);
  }

  @Test
  void valueThatIsNestedTooDeeply_isRefused() throws IOException {
    Path file = write("{\"traceEvents\":[{\"args\":" + "[".repeat(102) + "1");

    assertThatThrownBy(() -> StackFile.read(file))
        .hasMessageContaining("expected at most 100 levels of nesting");
  }

  @Test
  void traceOfThePytorchProfiler_isKernelTimeUnderTheFramesThatLaunchedIt() throws IOException {
    Path file =
        write(
            """
            {"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": [
              {"ph": "M", "name": "process_name", "pid": 1},
              {"ph": "X", "cat": "python_function", "name": "serve.py(3): step", "pid": 1, "tid": 2, "ts": 100, "dur": 50},
              {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 100, "dur": 20},
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 110.5, "dur": 5, "args": {"correlation": 9}},
              {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 2, "ts": 120, "dur": 20},
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 121, "dur": 2, "args": {"correlation": 10}},
              {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200, "dur": 1.5, "args": {"correlation": 9}},
              {"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 7, "ts": 210, "dur": 2, "args": {"correlation": 10}},
              {"ph": "X", "cat": "kernel", "name": "lost", "pid": 0, "tid": 7, "ts": 220, "dur": 1, "args": {"correlation": 99}}
            ]}
            """);

    assertThat(StackFile.read(file).unit()).isEqualTo(Unit.NANOS);
    assertThat(StackFile.read(file).sorted())
        .containsExactly(
            entry("[launch not in the trace];-;lost_[G]", 1000L),
            entry("serve.py(3): step;aten::mm;cudaLaunchKernel;-;gemm_[G]", 1500L),
            entry("serve.py(3): step;aten::relu;cudaLaunchKernel;-;relu_[G]", 2000L));
  }

  @Test
  void bytesThatAreNotUtf8_areRead() throws IOException {
    Path file =
        Files.write(
            directory.resolve("odd"), "a;\u00ff\u00fe 1\n".getBytes(StandardCharsets.ISO_8859_1));

    assertThat(StackFile.read(file).total()).isEqualTo(1);
  }

  private Map<String, Long> read(String text) throws IOException {
    return StackFile.read(write(text)).sorted();
  }

  private Path write(String text) throws IOException {
    return Files.writeString(directory.resolve("stacks"), text);
  }
}
