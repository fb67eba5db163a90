package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.ChildProcess;
import io.inferspan.ebpf.linux.Capability;
import io.inferspan.ebpf.linux.NativeLibrary;
import io.inferspan.ebpf.linux.SystemView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Object files that only tests load, and the assumptions of tests that load objects. */
public final class TestObjects {

  private TestObjects() {}

  /** Opens an object of {@code bpf/testkit} without loading it. */
  public static BpfObject open(String name) {
    return BpfObject.open(name, bytes(name));
  }

  /** Returns the bytes of an object file. */
  public static byte[] bytes(String name) {
    String resource = "/io/inferspan/ebpf/testkit/" + name + ".bpf.o";
    try (InputStream in =
        Objects.requireNonNull(TestObjects.class.getResourceAsStream(resource), resource)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Skips the test if this process cannot load BPF objects. */
  public static void assumeBpf() {
    assumeTrue(SystemView.live().has(Capability.SYS_ADMIN), "needs root: sudo ./check");
    assumeTrue(SystemView.live().describesItsTypes(), "needs a kernel with BTF");
    assumeLibbpf();
  }

  /** Skips the test on a machine without libbpf. */
  static void assumeLibbpf() {
    assumeTrue(
        NativeLibrary.open("libbpf.so.1") != null, "needs libbpf 1.0: apt-get install libbpf1");
  }

  /** Skips the test on a machine without a C compiler. */
  public static void assumeCompiler() {
    boolean found =
        Files.isExecutable(Path.of("/usr/bin/gcc"))
            && Files.exists(Path.of("/usr/include/stdio.h"));
    assumeTrue(found, "needs a C compiler: apt-get install gcc libc6-dev");
  }

  /** Builds the stand-ins for CUDA and NCCL, and the programs that call them. */
  public static void buildLoads(Path directory) {
    assumeCompiler();
    Path build = Path.of("../bpf/testkit/build").toAbsolutePath().normalize();
    ChildProcess.run(List.of(build.toString(), "--loads", directory.toString()));
  }

  static MemorySegment key(Arena arena, int key) {
    return arena.allocateFrom(JAVA_INT, key);
  }

  static MemorySegment value(Arena arena, long value) {
    return arena.allocateFrom(JAVA_LONG, value);
  }
}
