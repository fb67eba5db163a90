package io.inferspan.ebpf.libbpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.NativeFunction;
import io.inferspan.ebpf.linux.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class UprobesTest {

  private static final int CALLS = 20;
  private static final int AT_RETURN = 8;
  private static final int SELF = (int) ProcessHandle.current().pid();

  private static final NativeFunction GETPPID = NativeLibrary.c().function("getppid");
  private static final NativeFunction GETPGRP = NativeLibrary.c().function("getpgrp");

  @BeforeAll
  static void needsBpf() {
    TestObjects.assumeBpf();
  }

  @ParameterizedTest
  @EnumSource(UprobeMode.class)
  void cookie_distinguishesFunctions(UprobeMode mode) throws IOException {
    assumeHas(mode);
    try (BpfObject object = TestObjects.open("good")) {
      BpfProgram program = object.program("on_call").via(mode);
      object.load();
      BpfMap counts = object.map("counts");
      try (BpfLink link = program.attachUprobes(target(3, 4, SELF, false))) {
        call();
        // A session runs its program at the entry and at the return of a function.
        int perCall = mode == UprobeMode.SESSION ? 2 : 1;
        assertThat(counts.percpuSum(3)).isEqualTo((long) perCall * CALLS);
        assertThat(counts.percpuSum(4)).isEqualTo((long) perCall * 2 * CALLS);
      }
      long before = counts.percpuSum(3);
      call();

      assertThat(counts.percpuSum(3)).as("after the link was closed").isEqualTo(before);
    }
  }

  @ParameterizedTest
  @EnumSource(value = UprobeMode.class, names = "SESSION", mode = EnumSource.Mode.EXCLUDE)
  void programAtReturn_runsAtReturn(UprobeMode mode) throws IOException {
    assumeHas(mode);
    try (BpfObject object = TestObjects.open("good")) {
      BpfProgram program = object.program("on_return").via(mode);
      object.load();
      try (BpfLink link = program.attachUprobes(target(1, 2, SELF, true))) {
        call();
        assertThat(object.map("counts").percpuSum(AT_RETURN)).isEqualTo(3 * CALLS);
      }
    }
  }

  @Test
  void anotherProcess_isNotObserved() throws IOException {
    assumeHas(UprobeMode.MULTI);
    try (BpfObject object = TestObjects.open("good")) {
      BpfProgram program = object.program("on_call").via(UprobeMode.MULTI);
      object.load();
      int init = 1;
      try (BpfLink link = program.attachUprobes(target(3, 4, init, false))) {
        call();
        assertThat(object.map("counts").percpuSum(3)).isZero();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(UprobeMode.class)
  void absentLibrary_isReported(UprobeMode mode) {
    assumeHas(mode);
    try (BpfObject object = TestObjects.open("good")) {
      BpfProgram program = object.program("on_call").via(mode);
      object.load();
      UprobeTarget absent =
          new UprobeTarget(
              Path.of("/nonexistent/libcuda.so.1"),
              List.of(new Site(64, 0)),
              UprobeTarget.EVERY_PROCESS,
              false);

      assertThatThrownBy(() -> program.attachUprobes(absent))
          .isInstanceOf(BpfException.class)
          .hasMessageContaining("could not attach on_call to /nonexistent/libcuda.so.1, ENOENT")
          .hasMessageEndingWith("check that the file or the kernel function exists");
    }
  }

  @Test
  void targetWithoutFunctions_isRefused() {
    assertThatThrownBy(() -> new UprobeTarget(Path.of("libcuda.so.1"), List.of(), 0, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no function of libcuda.so.1 to attach to");
  }

  private static void assumeHas(UprobeMode mode) {
    KernelFeatures features = KernelFeatures.probe();
    boolean has =
        switch (mode) {
          case SESSION -> features.has(KernelFeature.UPROBE_SESSION);
          case MULTI -> features.has(KernelFeature.UPROBE_MULTI);
          case PERF -> features.has(KernelFeature.PERF_UPROBES);
        };
    assumeTrue(has, "needs a kernel with uprobes of mode " + mode);
  }

  private static void call() {
    for (int i = 0; i < CALLS; i++) {
      GETPPID.callInt();
      GETPGRP.callInt();
      GETPGRP.callInt();
    }
  }

  private static UprobeTarget target(int first, int second, int pid, boolean atReturn)
      throws IOException {
    Path library = cLibrary();
    ElfSymbols symbols = ElfSymbols.of(library);
    return new UprobeTarget(
        library,
        List.of(
            new Site(symbols.fileOffset("getppid").orElseThrow(), first),
            new Site(symbols.fileOffset("getpgrp").orElseThrow(), second)),
        pid,
        atReturn);
  }

  static Path cLibrary() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.endsWith("/libc.so.6"))
        .map(line -> Path.of(line.substring(line.indexOf('/'))))
        .findFirst()
        .orElseThrow();
  }
}
