package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.linux.Capability;
import io.inferspan.ebpf.linux.SystemView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** The object files that only tests load. */
public final class TestObjects {

  private TestObjects() {}

  /** An object by its name in {@code bpf/testkit}, not loaded yet. */
  public static BpfObject open(String name) {
    return BpfObject.open(name, bytes(name));
  }

  static byte[] bytes(String name) {
    String resource = "/io/inferspan/ebpf/testkit/" + name + ".bpf.o";
    try (InputStream in =
        Objects.requireNonNull(TestObjects.class.getResourceAsStream(resource), resource)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Skips the test where the kernel loads nothing for this process. */
  public static void assumeBpf() {
    assumeTrue(SystemView.live().has(Capability.SYS_ADMIN), "needs root");
    assumeTrue(SystemView.live().describesItsTypes(), "needs a kernel with BTF");
  }

  static MemorySegment key(Arena arena, int key) {
    return arena.allocateFrom(JAVA_INT, key);
  }

  static MemorySegment value(Arena arena, long value) {
    return arena.allocateFrom(JAVA_LONG, value);
  }
}
