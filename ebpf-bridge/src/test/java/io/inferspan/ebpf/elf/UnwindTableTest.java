package io.inferspan.ebpf.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnwindTableTest {

  private static final long SEED = 20261126;
  private static final int INPUTS = 1000;
  private static final String CLANG = "/usr/bin/clang-19";

  /** All rows of all functions. */
  @ParameterizedTest
  @ValueSource(
      strings = {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"})
  void rows_areAsReadelfPrintsThem(String library) throws Exception {
    assumeTrue(Files.exists(Path.of(library)) && Files.exists(Path.of("/usr/bin/readelf")));
    UnwindTable table = table(Path.of(library));
    int rows = 0;
    int framePointer = -1;
    for (String line : readelf(library)) {
      String[] fields = line.strip().split(" +");
      if (fields[0].equals("LOC")) {
        framePointer = Arrays.asList(fields).indexOf("rbp");
      } else if (fields[0].matches("0*[1-9a-f][0-9a-f]*")
          && fields[0].length() == 16
          && fields[1].matches("(rsp|rbp|r10)\\+.*")) {
        long address = Long.parseLong(fields[0], 16);
        String saved = framePointer < 0 ? "u" : fields[framePointer];
        assertThat(table.at(address, Instruction.next(address, 0, 0)))
            .as(line)
            .isEqualTo(expected(fields[1], saved));
        rows++;
      }
    }
    assertThat(rows).isGreaterThan(10_000);
  }

  private static CallFrame expected(String frame, String saved) {
    int offset = Integer.parseInt(frame.substring(4));
    if (frame.startsWith("rbp")) {
      return offset == 16 ? CallFrame.OWN : CallFrame.UNKNOWN;
    }
    boolean kept = saved.matches("c-.*") && Integer.parseInt(saved.substring(2)) <= offset;
    return kept || !frame.startsWith("rsp") ? CallFrame.UNKNOWN : CallFrame.onStack(offset);
  }

  /** A function on AArch64 has a frame pointer once it is saved below the caller's address. */
  @Test
  void rowsOfAarch64_haveFramePointersOrAreUnknown(@TempDir Path directory) throws Exception {
    assumeTrue(Files.exists(Path.of(CLANG)) && Files.exists(Path.of("/usr/bin/ld.lld-19")));
    Path library = forAarch64(directory, "-fno-omit-frame-pointer");
    UnwindTable table = table(library);

    long leaf = function(library, "leaf");
    long caller = function(library, "caller");
    assertThat(table.at(leaf, Instruction.next(leaf, 0, 0))).isEqualTo(CallFrame.UNKNOWN);
    assertThat(table.at(caller, Instruction.next(caller, 0, 0))).isEqualTo(CallFrame.UNKNOWN);
    long end = table.end(caller);
    assertThat(table.at(end - 4, Instruction.next(end - 4, 0, 0))).isEqualTo(CallFrame.UNKNOWN);
    long within = caller + (end - caller) / 2 / 4 * 4;
    assertThat(table.at(within, Instruction.next(within, 0, 0))).isEqualTo(CallFrame.OWN);
    assertThat(table.at(within, Instruction.call(within))).isEqualTo(CallFrame.OWN);

    Path without = forAarch64(directory, "-fomit-frame-pointer");
    table = table(without);
    caller = function(without, "caller");
    for (long at = caller; at < table.end(caller); at += 4) {
      assertThat(table.at(at, Instruction.next(at, 0, 0))).isEqualTo(CallFrame.UNKNOWN);
      assertThat(table.at(at, Instruction.call(at))).isEqualTo(CallFrame.UNKNOWN);
    }
  }

  private static Path forAarch64(Path directory, String frames) throws Exception {
    Path source = directory.resolve("calls.c");
    Files.writeString(
        source,
        """
        int other(int);
        __attribute__((noinline)) int leaf(int a) { return a * 3; }
        int caller(int a) { for (int i = 0; i < a; i++) a += other(leaf(i)) + other(a); return a; }
        int last(void) { return 1; }
        """);
    Path library = directory.resolve("calls" + frames + ".so");
    int result =
        new ProcessBuilder(
                CLANG,
                "--target=aarch64-linux-gnu",
                "-O1",
                "-fPIC",
                "-shared",
                "-nostdlib",
                "-fuse-ld=lld-19",
                "-fasynchronous-unwind-tables",
                "-Wl,--eh-frame-hdr",
                frames,
                "-o",
                library.toString(),
                source.toString())
            .inheritIO()
            .start()
            .waitFor();
    assertThat(result).isZero();
    return library;
  }

  private static long function(Path library, String name) throws IOException {
    Process readelf = new ProcessBuilder("readelf", "-sW", library.toString()).start();
    return readelf.inputReader().readAllLines().stream()
        .filter(line -> line.endsWith(" " + name))
        .mapToLong(line -> Long.parseLong(line.strip().split(" +", -1)[1], 16))
        .findFirst()
        .orElseThrow();
  }

  private static List<String> readelf(String library) throws IOException {
    Process readelf =
        new ProcessBuilder("readelf", "-wF", library)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    return readelf.inputReader().readAllLines().stream()
        .dropWhile(line -> !line.contains(".eh_frame section"))
        .toList();
  }

  @Test
  void addressesOutsideOfFunctions_areUnknown() throws IOException {
    Path library = Path.of("/lib/x86_64-linux-gnu/libc.so.6");
    assumeTrue(Files.exists(library));
    UnwindTable table = table(library);

    for (long address : new long[] {0, 1, Long.MAX_VALUE, -1}) {
      assertThat(table.at(address, Instruction.call(address))).isEqualTo(CallFrame.UNKNOWN);
    }
  }

  @Test
  void brokenTables_areReadOrRefused(@TempDir Path directory) throws IOException {
    Path library = Path.of("/lib/x86_64-linux-gnu/libdl.so.2");
    assumeTrue(Files.exists(library));
    Random random = new Random(SEED);
    byte[] whole = Files.readAllBytes(library);
    int known = 0;
    for (int i = 0; i < INPUTS; i++) {
      byte[] broken = whole.clone();
      for (int j = random.nextInt(200); j >= 0; j--) {
        broken[random.nextInt(0x78, broken.length)] = (byte) random.nextInt(256);
      }
      known += framesOf(Files.write(directory.resolve("lib.so"), broken), broken.length);
    }
    assertThat(known).isPositive();
  }

  private static int framesOf(Path file, int length) throws IOException {
    int known = 0;
    try {
      ElfFunctions functions = ElfFunctions.of(file, Path.of("/nowhere"));
      for (long at = 0; at < length; at += 16) {
        known += functions.frame(at, Instruction.next(at, 0, 0)).equals(CallFrame.UNKNOWN) ? 0 : 1;
        known += functions.isRoot(at) ? 1 : 0;
      }
    } catch (ElfException refused) {
      assertThat(refused).hasMessageContaining("ELF");
    }
    return known;
  }

  /** Code as a JVM's compilers make it, around the instruction that runs next. */
  @ParameterizedTest
  @CsvSource({
    "0000000000000000, 89842400c0feff55, 8", // touches the stack pages that calls will need
    "89842400c0feff00, 55488bec4883ec20, 8",
    "842400c0feff0055, 488bec4883ec2000, 16",
    "2400c0feff554889, 4883ec2000000000, 0",
    "004883c420000000, 8b44240848000000, 0",
    "0000004883c4205d, 493b67480f870000, 8",
    "83c4205d493b6748, 0f8700000000c300, 8",
    "48480f8700000000, c300000000000000, 8",
    "0000000000000000, 0000000000000000, -1",
  })
  void compiledCode_hasItsFrameBetweenItsFirstAndLastInstructions(
      String before, String next, int offset) {
    CallFrame frame = Instruction.next(0x1000, word(before), word(next)).ofCompiledCode();

    // If the code could not be read, the frame is unknown.
    assertThat(frame).isEqualTo(offset == 0 ? CallFrame.OWN : CallFrame.onStack(offset));
  }

  private static long word(String bytes) {
    return Long.reverseBytes(Long.parseUnsignedLong(bytes, 16));
  }

  private static UnwindTable table(Path file) throws IOException {
    try (FileChannel channel = ElfFile.open(file)) {
      return Objects.requireNonNull(UnwindTable.of(new ElfFile(channel)));
    }
  }
}
