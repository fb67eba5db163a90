package io.inferspan.ebpf.libbpf;

import static io.inferspan.ebpf.libbpf.TestObjects.key;
import static io.inferspan.ebpf.libbpf.TestObjects.value;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.Mapping;
import io.inferspan.ebpf.linux.SystemCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class BpfObjectTest {

  private static final int AT_SYSTEM_CALL = 9;

  @BeforeAll
  static void needsBpf() {
    TestObjects.assumeBpf();
  }

  @Test
  void map_isAsDeclared() {
    try (BpfObject object = TestObjects.open("good").load()) {
      BpfMap table = object.map("table");

      assertThat(table.name()).isEqualTo("table");
      assertThat(table.keySize()).isEqualTo(Integer.BYTES);
      assertThat(table.valueSize()).isEqualTo(Long.BYTES);
      assertThat(table.maxEntries()).isEqualTo(8);
    }
  }

  @Test
  void entry_isPutReadAndDeleted() {
    try (BpfObject object = TestObjects.open("good").load();
        Arena arena = Arena.ofConfined()) {
      BpfMap table = object.map("table");
      MemorySegment read = value(arena, 0);

      assertThat(table.get(key(arena, 5), read)).isFalse();
      assertThat(table.put(key(arena, 5), value(arena, 77))).isTrue();
      assertThat(table.get(key(arena, 5), read)).isTrue();
      assertThat(read.get(JAVA_LONG, 0)).isEqualTo(77);
      assertThat(table.delete(key(arena, 5))).isTrue();
      assertThat(table.delete(key(arena, 5))).isFalse();
    }
  }

  @Test
  void fullMap_refusesAnotherEntry() {
    try (BpfObject object = TestObjects.open("good").load();
        Arena arena = Arena.ofConfined()) {
      BpfMap table = object.map("table");
      for (int i = 0; i < 8; i++) {
        assertThat(table.put(key(arena, i), value(arena, i))).isTrue();
      }

      assertThat(table.put(key(arena, 8), value(arena, 8))).isFalse();
    }
  }

  @Test
  @SuppressWarnings("NullAway") // a failure of another type than BpfException
  void failedOpen_freesItsMemory() throws IOException {
    long before = mappedKilobytes();

    for (int i = 0; i < 200; i++) {
      assertThatThrownBy(() -> BpfObject.open("none", null))
          .isInstanceOf(NullPointerException.class);
    }

    assertThat(mappedKilobytes() - before).as("each log has 8 MiB").isLessThan(200 * (8 << 10) / 2);
  }

  private static long mappedKilobytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmSize:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .sum();
  }

  @Test
  void resizedMap_hasRoomForMore() {
    try (BpfObject object =
        TestObjects.open("good").resize("table", 32).resize("ring", 1 << 20).load()) {
      assertThat(object.map("table").maxEntries()).isEqualTo(32);
      assertThat(object.map("ring").maxEntries()).isEqualTo(1 << 20);
    }
  }

  @Test
  void sharedMap_isOneMap() {
    try (BpfObject first = TestObjects.open("good").load();
        BpfObject second = TestObjects.open("good").share("table", first.map("table")).load();
        Arena arena = Arena.ofConfined()) {
      first.map("table").put(key(arena, 1), value(arena, 11));
      MemorySegment read = value(arena, 0);

      assertThat(second.map("table").get(key(arena, 1), read)).isTrue();
      assertThat(read.get(JAVA_LONG, 0)).isEqualTo(11);
    }
  }

  @Test
  void mapOfAnotherShape_isNotShared() {
    try (BpfObject first = TestObjects.open("good").load();
        BpfObject second = TestObjects.open("good")) {
      assertThatThrownBy(() -> second.share("table", first.map("watched")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "map table of object good has another type, key size or value size than watched");
    }
  }

  @Test
  void attachedProgram_countsAndStopsWithItsLink() {
    try (BpfObject object = TestObjects.open("good").load();
        Mapping watched = Mapping.shared(object.map("watched").fd(), 0, 4096, true)) {
      BpfMap counts = object.map("counts");
      watched.memory().set(JAVA_LONG, 0, ProcessHandle.current().pid());
      try (BpfLink link = object.program("on_system_call").attach()) {
        for (int i = 0; i < 100; i++) {
          SystemCall.GETTID.call();
        }
        assertThat(counts.percpuSum(AT_SYSTEM_CALL)).isGreaterThanOrEqualTo(100);
      }
      long stopped = counts.percpuSum(AT_SYSTEM_CALL);
      SystemCall.GETTID.call();

      assertThat(counts.percpuSum(AT_SYSTEM_CALL)).isEqualTo(stopped).isPositive();
      assertThat(counts.percpuSum(1000)).isZero();
    }
  }

  @Test
  void syscallProgram_runsAndWritesToItsContext() {
    try (BpfObject object = TestObjects.open("good").load();
        Arena arena = Arena.ofConfined()) {
      MemorySegment filling = arena.allocate(16, 8);
      filling.set(JAVA_LONG, 0, 4711);
      filling.set(JAVA_INT, 8, 300);

      assertThat(object.program("fill").run(filling)).isEqualTo(300);
      assertThat(filling.get(JAVA_INT, 12)).isEqualTo(300);
    }
  }

  @Test
  void runs_areMeasuredWhileStatisticsAreEnabled() {
    try (BpfObject object = TestObjects.open("good").load();
        BpfLink link = object.program("on_system_call").attach()) {
      BpfProgram program = object.program("on_system_call");
      try (FileDescriptor enabled = RunStats.enable()) {
        for (int i = 0; i < 100; i++) {
          SystemCall.GETTID.call();
        }
      }
      RunStats runs = program.runs();

      assertThat(runs.count()).isGreaterThanOrEqualTo(100);
      assertThat(runs.totalNanos()).isPositive();
    }
  }

  @Test
  void programWithoutAutoload_isNotLoaded() {
    try (BpfObject object = TestObjects.open("good").autoload("fill", false).load()) {
      assertThatThrownBy(() -> object.program("fill").fd())
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("program fill is not loaded");
      assertThat(object.program("on_call").fd()).isPositive();
    }
  }

  @Test
  void unknownNames_areReported() {
    try (BpfObject object = TestObjects.open("good")) {
      assertThatThrownBy(() -> object.program("on_coffee"))
          .hasMessageStartingWith("object good has no program on_coffee, only [");
      assertThatThrownBy(() -> object.map("coffee")).hasMessage("object good has no map coffee");
    }
  }

  @Test
  void fileThatIsNoObject_isRefusedWithARemedy() {
    byte[] text = "hello".repeat(100).getBytes(StandardCharsets.US_ASCII);

    assertThatThrownBy(() -> BpfObject.open("text", text))
        .isInstanceOf(BpfException.class)
        .hasMessageContaining("libbpf cannot read object text")
        .hasMessageEndingWith("rebuild the object");
  }

  @Test
  void programThatTheKernelForbids_isExplained() {
    try (BpfObject object = TestObjects.open("good").autoload("on_vfs_read", true)) {
      Throwable thrown = catchThrowable(object::load);
      assumeTrue(thrown != null, "needs a kernel that forbids trampolines");
      BpfException refused = (BpfException) thrown;
      assertThat(refused)
          .hasMessage(
              "the kernel refused program on_vfs_read of object good without a message, EPERM"
                  + " (operation not permitted): the security policy of this kernel forbids"
                  + " programs of section fentry/vfs_read, use a tp_btf or a uprobe program");
      assertThat(refused.log()).contains("on_vfs_read");
    }
  }
}
