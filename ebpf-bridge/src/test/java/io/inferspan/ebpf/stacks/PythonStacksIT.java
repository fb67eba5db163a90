package io.inferspan.ebpf.stacks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.flame.StackCounts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Stacks of Python functions, named by perf trampolines or from the interpreter's state. */
class PythonStacksIT extends RecordedLoads {

  private static final String PYTHON =
      """
      def inner(n):
          for i in range(n): pass
      def outer(n): inner(n)
      print(flush=True)
      while True: outer(100000)
      """;

  /** A program in which the interpreter's C code calls a Python function with a non-ASCII name. */
  private static final String PYTHON_3_11 =
      """
      def inner(n):
          for i in range(n): pass
      def outer(n): inner(n)
      def schlüssel(n): inner(n); return n
      def sorting(n): sorted([n, n], key=schlüssel)
      print(flush=True)
      while True: outer(100000); sorting(50000)
      """;

  /**
   * Tests every interpreter with trampolines. With frame pointers, stacks have the whole path;
   * without, they may be truncated, but not wrong.
   */
  @Test
  void pythonWithTrampolines_foldsToItsPathOrIsTruncated() throws Exception {
    List<List<String>> interpreters = Pythons.withTrampolines();
    assumeTrue(!interpreters.isEmpty(), "needs Python 3.12 or newer");
    Path source = Files.writeString(directory.resolve("load.py"), PYTHON);
    for (List<String> interpreter : interpreters) {
      List<String> command = new ArrayList<>(interpreter);
      command.addAll(List.of("-X", "perf", source.toString()));
      int pid = start(command.toArray(String[]::new));
      Path map = Path.of("/tmp/perf-" + pid + ".map");
      try {
        StackCounts counts = sampled(pid, 200);
        started.removeLast().destroyForcibly().waitFor();
        String path = ".*;py::<module>:[^;]*;.*py::outer:[^;]*;.*py::inner:[^;]*(;.*)?";
        String cut = "[^;]*;\\[truncated\\];.*";
        boolean framed = Pythons.hasFramePointers(interpreter);
        System.out.printf(
            "%s: %d of %d samples have the path, %d are truncated%n",
            interpreter,
            total(counts, stack -> stack.matches(path)),
            counts.total(),
            total(counts, stack -> stack.matches(cut)));
        assertShare(counts, 0.99, stack -> stack.matches(path) || (!framed && stack.matches(cut)));
      } finally {
        Files.deleteIfExists(map);
      }
    }
  }

  @Test
  void python311_foldsToItsPath() throws Exception {
    List<Path> interpreters = Pythons.of311();
    assumeTrue(!interpreters.isEmpty(), "needs Python 3.11: apt-get install python3");
    Path source = Files.writeString(directory.resolve("load.py"), PYTHON_3_11);
    for (Path interpreter : interpreters) {
      int pid = start(interpreter.toString(), source.toString());
      StackCounts counts = sampled(pid, 400);
      started.removeLast().destroyForcibly().waitFor();
      String root = "python[^;]*;py::<module>:[^;]*load.py;py::";
      String leaf = "py::inner:[^;]*load.py(;.*)?";
      String called = root + "outer:[^;]*load.py;" + leaf;
      String sorted = root + "sorting:[^;]*load.py;(.*;)?py::schlüssel:[^;]*load.py;" + leaf;
      assertShare(counts, 0.99, stack -> stack.matches(called) || stack.matches(sorted));
      double share = total(counts, stack -> stack.matches(sorted)) / (double) counts.total();
      assertThat(share).isBetween(0.3, 0.7);
    }
  }
}
