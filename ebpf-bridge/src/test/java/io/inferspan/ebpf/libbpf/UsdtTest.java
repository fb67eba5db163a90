package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.ChildProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** USDT probes of a program, which libbpf finds by their ELF notes. */
class UsdtTest {

  private static final long COOKIE = 4711;
  private static final String WATCHED = "1";
  private static final String UNWATCHED = "0";

  @TempDir private static Path directory;
  private static Path program;

  @BeforeAll
  static void buildProgram() {
    TestObjects.assumeBpf();
    TestObjects.assumeCompiler();
    program = directory.resolve("usdt");
    String source = Path.of("../bpf/testkit/usdt.c").toAbsolutePath().normalize().toString();
    ChildProcess.run(List.of("gcc", "-O2", "-o", program.toString(), source));
  }

  @Test
  void probe_isHitWithItsArgumentsWhileALinkExists() throws IOException {
    try (BpfObject object = TestObjects.open("usdt").load();
        Steps steps = new Steps()) {
      assertThat(steps.step()).isEqualTo(UNWATCHED);
      try (BpfLink link =
          object.program("on_point").attachUsdt(program, "inspan", "step", COOKIE)) {
        assertThat(steps.step()).isEqualTo(WATCHED);
        assertThat(steps.step()).isEqualTo(WATCHED);
        assertThat(seen(object)).containsExactly(2, 3, -3, COOKIE);
      }
      assertThat(steps.step()).isEqualTo(UNWATCHED);
      assertThat(seen(object)).containsExactly(2, 3, -3, COOKIE);
    }
  }

  @Test
  void absentProbe_isReported() {
    try (BpfObject object = TestObjects.open("usdt").load()) {
      BpfProgram onPoint = object.program("on_point");

      assertThatThrownBy(() -> onPoint.attachUsdt(program, "inspan", "jump", 0))
          .isInstanceOf(BpfException.class)
          .hasMessageContaining("could not attach on_point to inspan:jump of " + program)
          .hasMessageContaining("ENOENT");
    }
  }

  /** Returns the number of hits, both arguments, and the cookie. */
  private static long[] seen(BpfObject object) {
    BpfMap map = object.map("seen");
    long[] values = new long[4];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_LONG);
      for (int slot = 0; slot < values.length; slot++) {
        assertThat(map.get(TestObjects.key(arena, slot), value)).isTrue();
        values[slot] = value.get(JAVA_LONG, 0);
      }
    }
    return values;
  }

  /** The running program, which hits its probe once for each line of input. */
  private static final class Steps implements AutoCloseable {

    private final Process process;
    private final BufferedReader said;

    Steps() throws IOException {
      process = new ProcessBuilder(program.toString()).start();
      said = process.inputReader();
      assertThat(said.readLine()).isEqualTo("ready");
    }

    /** Makes the program hit its probe; returns whether the program sees a tracer attached. */
    String step() throws IOException {
      Writer orders = process.outputWriter();
      orders.write("\n");
      orders.flush();
      return said.readLine();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}
