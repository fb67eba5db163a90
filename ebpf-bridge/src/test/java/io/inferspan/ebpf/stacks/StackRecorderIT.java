package io.inferspan.ebpf.stacks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stacks of programs whose call paths are known. */
class StackRecorderIT extends RecordedLoads {

  private static final String CPP =
      """
      #include <cstdlib>
      #include <unistd.h>
      volatile unsigned long sink; int times = 3;
      void inner(long n) { for (long i = 0; i < n; i++) sink = sink * 31 + i; }
      void fast(long n) { inner(n); }
      void slow(long n) { inner(times * n); }
      void nap() { usleep(20000); }
      int main(int c, char **v) {
        if (c > 1) times = atoi(v[1]);
        for (int i = 0;; i++) {
          if (!times) nap(); else { fast(100000); slow(100000); }
          if (c > 2 && i == 2000) execl(v[2], v[2], v[1], nullptr);
        }
      }
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

  /** Go's compiler gives a frame pointer only to functions that call others: leaf has none. */
  private static final String GO =
      """
      package main
      var sink int
      //go:noinline
      func leaf(n int) { for i := 0; i < n; i++ { sink = sink*31 + i } }
      //go:noinline
      func inner(n int) { leaf(n); sink++ }
      //go:noinline
      func outer(n int) { inner(n); sink++ }
      func main() { for { outer(20) } }
      """;

  /** Spends most time in the first and last instructions of functions, or in system calls. */
  private static final String SHORT =
      """
      #include <unistd.h>
      #define FUNCTION extern "C" __attribute__((noinline, noclone)) void
      long sink;
      FUNCTION leaf() { sink++; asm volatile(""); }
      FUNCTION fast() { leaf(); asm volatile(""); }
      FUNCTION slow() { leaf(); leaf(); asm volatile(""); }
      FUNCTION nap() { usleep(1); asm volatile(""); }
      int main(int c, char **) { for (;;) { if (c > 1) nap(); else { fast(); slow(); } } }
      """;

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

  /** With the second option, functions that call nothing have no frame pointer. */
  @ParameterizedTest
  @ValueSource(strings = {"-mno-omit-leaf-frame-pointer", "-momit-leaf-frame-pointer"})
  void firstAndLastInstructionsOfFunctions_haveTheirCaller(String leaves) throws Exception {
    Path source = Files.writeString(directory.resolve("short.cpp"), SHORT);
    Path load = directory.resolve("short");
    run("g++", "-O1", "-fno-omit-frame-pointer", leaves, source + "", "-o", load + "");

    StackCounts counts = sampled(start(load.toString()), 1000);

    assertShare(
        counts,
        0.99,
        stack -> stack.matches("short;[^\\[]*;main(;(fast|slow)(;leaf)?)?(;.*_\\[k\\])?"));
    assertShare(
        counts,
        0.99,
        stack -> !stack.contains("leaf") || stack.matches(".*;(fast|slow);leaf(;.*)?"));
    // Every path is right or truncated.
    assertShare(
        counts,
        1,
        stack ->
            stack.contains("[truncated]")
                || stack.matches("[^\\[]*;main(;(fast|slow)(;leaf)?)?(;.*_\\[k\\])?"));
  }

  @Test
  void waitsInTheLibraryWithoutFramePointers_haveTheirCaller() throws Exception {
    Path source = Files.writeString(directory.resolve("short.cpp"), SHORT);
    Path load = directory.resolve("short");
    run("g++", "-O1", "-fno-omit-frame-pointer", source + "", "-o", load + "");

    StackCounts counts = record(start(load.toString(), "nap"), Kind.OFF_CPU, 2000);

    assertShare(counts, 0.99, stack -> stack.matches("short;[^\\[]*;main;nap;usleep;.*_\\[k\\]"));
  }

  @Test
  void codeWithoutFramePointers_isTruncated() throws Exception {
    int pid = start(compiled("-O2", "-fomit-frame-pointer", "-fno-inline").toString());

    StackCounts counts = record(pid, Kind.ON_CPU, 2000);

    assertShare(counts, 0.99, stack -> stack.startsWith("load;[truncated];"));
  }

  @Test
  void differenceOfTwoRecordings_isLargestForTheFunctionThatBecameSlow() throws Exception {
    String load = compiled("-O0").toString();
    StackCounts before = sampled(start(load, "3"), 200);
    StackCounts after = sampled(start(load, "30"), 200);

    Map<String, Double> growth = inclusive(after);
    inclusive(before).forEach((frame, share) -> growth.merge(frame, -share, Double::sum));

    assertThat(growth.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey())
        .as("%s", growth)
        .isEqualTo("slow(long)");
  }

  /** Returns, for each frame, the share of the samples whose stacks contain it. */
  private static Map<String, Double> inclusive(StackCounts counts) {
    Map<String, Double> shares = new HashMap<>();
    counts
        .sorted()
        .forEach(
            (stack, count) ->
                Set.of(stack.split(";"))
                    .forEach(
                        frame ->
                            shares.merge(frame, (double) count / counts.total(), Double::sum)));
    return shares;
  }

  @Test
  void go_foldsToItsPath() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/go")), "needs go: apt-get install golang-go");
    Path source = Files.writeString(directory.resolve("load.go"), GO);
    run("go", "build", "-o", directory.resolve("load").toString(), source.toString());

    StackCounts counts = sampled(start(directory.resolve("load").toString()), 200);

    // The other stacks are of the runtime's threads, which collect garbage and preempt.
    long load = total(counts, stack -> stack.contains("main."));
    long path =
        total(
            counts,
            stack ->
                stack.matches(
                    "load;.*;main.main(;main.outer(;main.inner(;main.leaf)?)?)?(;.*_\\[k\\].*)?"));
    assertThat(total(counts, stack -> stack.matches(".*main.inner;main.leaf(;.*)?")))
        .isGreaterThan(load / 10);
    assertThat(path / (double) load).as("%s", counts.sorted()).isGreaterThanOrEqualTo(0.99);
    assertThat(load / (double) counts.total()).isGreaterThan(0.9);
  }

  @Test
  void waits_areCountedByTheirDuration() throws Exception {
    int pid = start(compiled("-O0").toString(), "0");

    StackCounts counts = record(pid, Kind.OFF_CPU, 2000);

    long naps = total(counts, stack -> stack.contains("nanosleep_[k]"));
    assertThat(naps).isBetween(1_000_000_000L, 3_000_000_000L);
    assertThat(counts.sorted().keySet()).noneMatch(stack -> stack.contains("bpf_prog"));
  }

  @Test
  void otherProcesses_areNotCounted() throws Exception {
    int counted = start(compiled("-O0").toString(), "0");
    start(directory.resolve("load").toString());

    assertThat(record(counted, Kind.ON_CPU, 1000).total()).isLessThan(20);
  }

  @Test
  void exitedProcess_keepsItsNames() throws Exception {
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
  void processThatExecutesAnotherProgram_hasTheNamesOfBoth() throws Exception {
    String load = compiled("-O0").toString();
    Path other = directory.resolve("other");
    run("cp", load, other.toString());
    int pid = start(load, "3", other.toString());
    try (StackRecorder recorder =
        StackRecorder.start(StackScope.of(List.of(pid)), Kind.ON_CPU, 99)) {
      StackCounts counts = recorder.counts(Unit.SAMPLES);
      for (int i = 0; i < 240 && total(counts, stack -> stack.startsWith("other;")) < 50; i++) {
        Thread.sleep(100);
        recorder.look();
        counts = recorder.counts(Unit.SAMPLES);
      }
      assertShare(counts, 0.95, stack -> stack.matches(".*;main;(fast|slow)\\(long\\);inner.*"));
      assertThat(counts.sorted().keySet()).anyMatch(stack -> stack.startsWith("load;"));
    }
  }

  @Test
  void javaWithFramePointersAndAPerfMap_foldsToItsPath() throws Exception {
    Path source = Files.writeString(directory.resolve("Spin.java"), JAVA);
    String home = System.getProperty("java.home");
    run(home + "/bin/javac", "-d", directory.toString(), source.toString());
    int pid =
        start(
            home + "/bin/java",
            "-XX:+PreserveFramePointer",
            // Compiles once and early: code compiled after the perf map was written is not in it.
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
}
