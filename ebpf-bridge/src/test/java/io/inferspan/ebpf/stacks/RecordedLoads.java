package io.inferspan.ebpf.stacks;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A test that starts processes and records their stacks. */
abstract class RecordedLoads {

  @TempDir Path directory;
  final List<Process> started = new ArrayList<>();

  @BeforeEach
  void kernel() {
    TestObjects.assumeBpf();
    TestObjects.assumeCompiler();
  }

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  final int start(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    started.add(process);
    Thread.sleep(200);
    assertThat(process.isAlive()).isTrue();
    return (int) process.pid();
  }

  static StackCounts record(int pid, Kind kind, long millis) throws InterruptedException {
    try (StackRecorder recorder = StackRecorder.start(StackScope.of(List.of(pid)), kind, 99)) {
      Thread.sleep(millis);
      StackCounts counts = recorder.counts(kind.units().getFirst());
      // Some kernels do not report every context switch; nothing else is lost.
      assertThat(recorder.lost()).isEqualTo(recorder.lostReturns());
      return counts;
    }
  }

  /** Records until there are enough samples, for at most a minute: the machine may be busy. */
  static StackCounts sampled(int pid, int samples) throws InterruptedException {
    try (StackRecorder recorder =
        StackRecorder.start(StackScope.of(List.of(pid)), Kind.ON_CPU, 99)) {
      StackCounts counts = recorder.counts(Unit.SAMPLES);
      for (int i = 0; i < 240 && counts.total() < samples; i++) {
        Thread.sleep(250);
        counts = recorder.counts(Unit.SAMPLES);
      }
      return counts;
    }
  }

  static void assertShare(StackCounts counts, double share, Predicate<String> wanted) {
    assertThat(counts.total()).isGreaterThan(10);
    assertThat(total(counts, wanted) / (double) counts.total())
        .as("%s", counts.sorted())
        .isGreaterThanOrEqualTo(share);
  }

  static long total(StackCounts counts, Predicate<String> wanted) {
    return counts.sorted().entrySet().stream()
        .filter(stack -> wanted.test(stack.getKey()))
        .mapToLong(stack -> stack.getValue())
        .sum();
  }

  static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
