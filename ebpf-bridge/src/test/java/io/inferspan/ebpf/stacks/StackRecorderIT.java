package io.inferspan.ebpf.stacks;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads whose call paths are known, recorded for a while. */
class StackRecorderIT {

  private static final String CPP =
      """
      #include <unistd.h>
      volatile unsigned long sink;
      void inner(long n) { for (long i = 0; i < n; i++) sink = sink * 31 + i; }
      void fast(long n) { inner(n); }
      void slow(long n) { inner(3 * n); }
      void nap() { usleep(20000); }
      int main(int c, char **) { for (;;) { if (c > 1) nap(); else { fast(100000); slow(100000); } } }
      """;

  private static final String JAVA =
      """
      public class Spin {
        static long sink;
        static void inner(int n) { for (int i = 0; i < n; i++) sink = sink * 31 + i; }
        static void outer(int n) { inner(n); sink++; }
        public static void main(String[] a) { for (;;) outer(1_000_000); }
      }
      """;

  @TempDir private Path directory;
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void kernel() {
    TestObjects.assumeBpf();
    TestObjects.assumeCompiler();
  }

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void codeWithFramePointers_foldsToItsPath() throws Exception {
    int pid = start(compiled("-O0").toString());

    StackCounts counts = sampled(pid, 200);

    assertShare(
        counts,
        0.99,
        stack -> stack.matches("load;.*;main;(fast|slow)\\(long\\);inner\\(long\\)(;.*_\\[k\\])?"));
    long slow = total(counts, stack -> stack.contains(";slow(long);"));
    assertThat(slow / (double) counts.total()).isBetween(0.6, 0.9);
  }

  @Test
  void codeWithoutFramePointers_isTruncated() throws Exception {
    int pid = start(compiled("-O2", "-fomit-frame-pointer", "-fno-inline").toString());

    StackCounts counts = record(pid, Kind.ON_CPU, 2000);

    assertShare(counts, 0.99, stack -> stack.startsWith("load;[truncated];"));
  }

  @Test
  void waits_countForAsLongAsTheyLasted() throws Exception {
    int pid = start(compiled("-O0").toString(), "nap");

    StackCounts counts = record(pid, Kind.OFF_CPU, 2000);

    long naps = total(counts, stack -> stack.contains("nanosleep_[k]"));
    assertThat(naps).isBetween(1_000_000_000L, 3_000_000_000L);
    assertThat(counts.sorted().keySet()).noneMatch(stack -> stack.contains("bpf_prog"));
  }

  @Test
  void otherProcesses_areNotCounted() throws Exception {
    int counted = start(compiled("-O0").toString(), "nap");
    start(directory.resolve("load").toString());

    assertThat(record(counted, Kind.ON_CPU, 1000).total()).isLessThan(20);
  }

  @Test
  void processThatEnded_hasItsNames() throws Exception {
    int pid = start(compiled("-O0").toString());
    try (StackRecorder recorder =
        StackRecorder.start(StackScope.of(List.of(pid)), Kind.ON_CPU, 99)) {
      Thread.sleep(1000);
      recorder.look();
      started.getFirst().destroyForcibly().waitFor();

      assertThat(recorder.counts(Unit.SAMPLES).sorted().keySet())
          .anyMatch(stack -> stack.contains("(long);inner(long)"));
    }
  }

  @Test
  void javaWithFramePointersAndAMap_foldsToItsPath() throws Exception {
    Path source = Files.writeString(directory.resolve("Spin.java"), JAVA);
    String home = System.getProperty("java.home");
    run(home + "/bin/javac", "-d", directory.toString(), source.toString());
    int pid =
        start(
            home + "/bin/java",
            "-XX:+PreserveFramePointer",
            // Compiled once and early: code that is compiled after the map was written is not in
            // it.
            "-XX:TieredStopAtLevel=1",
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=dontinline,Spin::*",
            "-cp",
            directory.toString(),
            "Spin");
    Thread.sleep(3000);
    run(home + "/bin/jcmd", Integer.toString(pid), "Compiler.perfmap");
    Path map = Path.of("/tmp/perf-" + pid + ".map");
    try {
      StackCounts counts = record(pid, Kind.ON_CPU, 3000);
      long load = total(counts, stack -> stack.contains("Spin."));
      long path =
          total(counts, stack -> stack.contains(";void Spin.outer(int);void Spin.inner(int)"));
      assertThat(load).isGreaterThan(20);
      assertThat(path / (double) load).as("%s", counts.sorted()).isGreaterThanOrEqualTo(0.99);
    } finally {
      Files.delete(map);
    }
  }

  private Path compiled(String... options) throws Exception {
    Path source = Files.writeString(directory.resolve("load.cpp"), CPP);
    Path load = directory.resolve("load");
    List<String> command = new ArrayList<>(List.of("g++", "-fno-omit-frame-pointer"));
    command.addAll(List.of(options));
    command.addAll(List.of(source.toString(), "-o", load.toString()));
    run(command.toArray(String[]::new));
    return load;
  }

  private int start(String... command) throws Exception {
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

  private static StackCounts record(int pid, Kind kind, long millis) throws InterruptedException {
    try (StackRecorder recorder = StackRecorder.start(StackScope.of(List.of(pid)), kind, 99)) {
      Thread.sleep(millis);
      StackCounts counts = recorder.counts(kind.units().getFirst());
      assertThat(recorder.lost()).isZero();
      return counts;
    }
  }

  /** However long that takes on a busy machine. */
  private static StackCounts sampled(int pid, int samples) throws InterruptedException {
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

  private static void assertShare(StackCounts counts, double share, Predicate<String> wanted) {
    assertThat(counts.total()).isGreaterThan(10);
    assertThat(total(counts, wanted) / (double) counts.total())
        .as("%s", counts.sorted())
        .isGreaterThanOrEqualTo(share);
  }

  private static long total(StackCounts counts, Predicate<String> wanted) {
    return counts.sorted().entrySet().stream()
        .filter(stack -> wanted.test(stack.getKey()))
        .mapToLong(stack -> stack.getValue())
        .sum();
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
