package io.inferspan.ebpf.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.UprobeTarget;
import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.wire.EventClass;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A real process whose calls of a library are counted once the library is found. */
class LibraryProbesTest {

  private static final int BZIP_CALLS = 3;
  private static final String SCRIPT =
      """
      import ctypes, sys
      print("ready", flush=True)
      for line in sys.stdin:
          if line.startswith("load"):
              library = ctypes.CDLL("libbz2.so.1.0")
          else:
              for _ in range(int(line)):
                  library.BZ2_bzlibVersion()
          print("done", flush=True)
      """;

  private BpfObject object;
  private LibraryProbes probes;
  private BpfMap counts;
  private Process python;

  @BeforeEach
  void startPython() throws IOException {
    TestObjects.assumeBpf();
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/python3")), "needs python3: apt-get install python3");
    assumeTrue(
        KernelFeatures.probe().has(KernelFeature.UPROBE_MULTI),
        "needs a kernel with uprobe_multi (Linux 6.6)");
    object = TestObjects.open("good");
    BpfProgram program = object.program("on_call").via(UprobeMode.MULTI);
    counts = object.load().map("counts");
    probes =
        new LibraryProbes(
            WatchedFunctions.of("libbz2\tBZ2_bzlibVersion\t0x3\nlibbz2\tBZ2_nothing\t0x4"),
            (library, sites) ->
                program.attachUprobes(
                    new UprobeTarget(library, sites, UprobeTarget.EVERY_PROCESS, false)));
    python = new ProcessBuilder("/usr/bin/python3", "-c", SCRIPT).start();
    assertThat(python.inputReader().readLine()).isEqualTo("ready");
  }

  @AfterEach
  void stopPython() throws InterruptedException {
    if (python != null) {
      python.destroyForcibly().waitFor();
      probes.close();
      object.close();
    }
  }

  @Test
  void libraryLoadedLater_isFoundWhenTheProcessIsExaminedAgain() throws IOException {
    look();
    assertThat(probes.libraries()).isEmpty();

    send("load");
    look();
    send("50");

    assertThat(probes.libraries())
        .hasSize(1)
        .allMatch(one -> one.outcome().endsWith("1 functions"));
    assertThat(counts.percpuSum(BZIP_CALLS)).isEqualTo(50);
  }

  @Test
  void processExaminedTwice_isProbedOnce() throws IOException {
    send("load");
    look();
    look();
    send("7");

    assertThat(counts.percpuSum(BZIP_CALLS)).isEqualTo(7);
  }

  @Test
  void forgottenProcess_isNoLongerObserved() throws IOException {
    send("load");
    look();
    probes.forget((int) python.pid());
    send("7");

    assertThat(probes.libraries()).isEmpty();
    assertThat(counts.percpuSum(BZIP_CALLS)).isZero();
  }

  @Test
  void killedProcess_isRemovedByTheNextSweep() throws IOException, InterruptedException {
    send("load");
    look();
    assertThat(probes.libraries()).hasSize(1);

    python.destroyForcibly().waitFor();
    probes.sweep();

    assertThat(probes.libraries()).isEmpty();
    assertThat(probes.failures()).isZero();
  }

  @Test
  void pausedProbes_countNothingUntilTheyResume() throws IOException {
    send("load");
    look();
    probes.pause(EventClass.LAUNCHES);
    send("3");
    assertThat(counts.percpuSum(BZIP_CALLS)).as("calls while another class is paused").isEqualTo(3);
    probes.pause(EventClass.CALLS);
    send("7");
    assertThat(counts.percpuSum(BZIP_CALLS)).isEqualTo(3);
    assertThat(probes.isWatchedFor((int) python.pid())).isTrue();

    probes.resume(EventClass.CALLS);
    probes.resume(EventClass.CALLS);
    send("5");

    assertThat(counts.percpuSum(BZIP_CALLS)).isEqualTo(8);
  }

  @Test
  void libraryFoundDuringAPause_isObservedAfterwards() throws IOException {
    probes.pause(EventClass.CALLS);
    send("load");
    look();
    send("7");
    assertThat(probes.libraries()).hasSize(1);

    probes.resume(EventClass.CALLS);
    send("5");

    assertThat(counts.percpuSum(BZIP_CALLS)).isEqualTo(5);
  }

  @Test
  void processInWhichTheLibraryWasFoundExitsDuringAPause_othersAreStillObservedAfterwards()
      throws IOException, InterruptedException {
    Process first = python;
    send("load");
    look();
    python = new ProcessBuilder("/usr/bin/python3", "-c", SCRIPT).start();
    assertThat(python.inputReader().readLine()).isEqualTo("ready");
    assertThat(probes.isWatchedOnlyFor((int) first.pid())).isTrue();
    send("load");
    look();
    assertThat(probes.isWatchedOnlyFor((int) first.pid())).isFalse();
    probes.pause(EventClass.CALLS);
    first.destroyForcibly().waitFor();
    probes.forget((int) first.pid());
    assertThat(probes.isWatchedOnlyFor((int) python.pid())).isTrue();

    probes.resume(EventClass.CALLS);
    send("5");

    assertThat(counts.percpuSum(BZIP_CALLS)).isEqualTo(5);
  }

  @Test
  void processThatExitsDuringAPause_isForgottenAndItsLibraryIsClosed()
      throws IOException, InterruptedException {
    send("load");
    look();
    probes.pause(EventClass.CALLS);
    assertThat(openLibraries()).isOne();
    python.destroyForcibly().waitFor();
    probes.sweep();
    probes.resume(EventClass.CALLS);

    assertThat(probes.libraries()).isEmpty();
    assertThat(probes.failures()).isZero();
    assertThat(openLibraries()).isZero();
  }

  private static long openLibraries() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.filter(LibraryProbesTest::isTheLibrary).count();
    }
  }

  private static boolean isTheLibrary(Path open) {
    try {
      return Files.readSymbolicLink(open).toString().contains("libbz2");
    } catch (IOException closed) {
      return false;
    }
  }

  private void look() {
    probes.look((int) python.pid());
  }

  private void send(String command) throws IOException {
    Writer input = python.outputWriter();
    input.write(command + "\n");
    input.flush();
    assertThat(python.inputReader().readLine()).isEqualTo("done");
  }
}
