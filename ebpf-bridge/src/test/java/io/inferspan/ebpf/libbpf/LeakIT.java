package io.inferspan.ebpf.libbpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.ChildProcess;
import io.inferspan.ebpf.libbpf.LoaderProcess.Attached;
import io.inferspan.ebpf.linux.OpenFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Loaded and attached objects are gone when they are closed, and when their process is killed. */
class LeakIT {

  private static final int CYCLES = Integer.getInteger("ebpf.cycles", 20);
  private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(10);

  @BeforeAll
  static void needsBpf() {
    TestObjects.assumeBpf();
  }

  @Test
  void startsAndEnds_leaveNothing() throws IOException, InterruptedException {
    Attached.now().close();
    KernelObjects made = new KernelObjects(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    int files = OpenFiles.count();
    int threads = nativeThreads();
    for (int i = 0; i < CYCLES; i++) {
      try (Attached attached = Attached.now()) {
        KernelObjects held = KernelObjects.of(ProcessHandle.current().pid());
        assertThat(held.programs()).hasSizeGreaterThanOrEqualTo(4);
        made.programs().addAll(held.programs());
        made.maps().addAll(held.maps());
        made.links().addAll(held.links());
      }
    }

    assertThat(OpenFiles.count()).as("open files").isLessThanOrEqualTo(files);
    assertThat(nativeThreads()).as("threads").isLessThanOrEqualTo(threads);
    assertThat(made.links()).hasSizeGreaterThanOrEqualTo(2 * CYCLES);
    assertGone(made);
  }

  @Test
  void failedLoads_leaveNothing() throws IOException {
    int files = OpenFiles.count();
    for (int i = 0; i < CYCLES; i++) {
      try (BpfObject bad = TestObjects.open("null_lookup")) {
        bad.load();
      } catch (BpfException refused) {
        assertThat(refused.log()).isNotEmpty();
      }
    }

    // Other threads may have closed files meanwhile.
    assertThat(OpenFiles.count()).isLessThanOrEqualTo(files);
    assertThat(KernelObjects.of(ProcessHandle.current().pid()).programs()).isEmpty();
  }

  @Test
  void killedProcess_leavesNothingAttached() throws IOException, InterruptedException {
    List<String> command =
        ChildProcess.java(LoaderProcess.class, "--enable-native-access=ALL-UNNAMED");
    Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
    KernelObjects held;
    try {
      assertThat(child.inputReader().readLine()).isEqualTo("attached");
      held = KernelObjects.of(child.pid());
      assertThat(held.programs()).hasSizeGreaterThanOrEqualTo(4);
      assertThat(held.maps()).hasSize(4);
      assertThat(held.links()).hasSizeGreaterThanOrEqualTo(2);
      assertThat(held.alive()).isNotEmpty();
    } finally {
      child.destroyForcibly().waitFor();
    }
    assertGone(held);
  }

  /** Waits until the kernel has freed the objects, which it does after a grace period. */
  private static void assertGone(KernelObjects objects) throws InterruptedException {
    long deadline = System.nanoTime() + BOUND_NANOS;
    while (!objects.alive().isEmpty() && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    assertThat(objects.alive()).isEmpty();
  }

  private static int nativeThreads() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("Threads:"))
        .mapToInt(line -> Integer.parseInt(line.substring(8).strip()))
        .sum();
  }
}
