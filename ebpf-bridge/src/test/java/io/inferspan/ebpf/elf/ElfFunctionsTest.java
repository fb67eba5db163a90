package io.inferspan.ebpf.elf;

import static io.inferspan.ebpf.elf.ElfBytes.CODE_ADDRESS;
import static io.inferspan.ebpf.elf.ElfBytes.CODE_OFFSET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ElfFunctionsTest {

  private static final Pattern NM_LINE =
      Pattern.compile("([0-9a-f]{16}) ([0-9a-f]{16}) [TtWw] ([^@]+).*");

  @TempDir private Path directory;

  @Test
  void function_isNamedOnlyWithinItsLength() throws IOException {
    ElfFunctions functions = read(new ElfBytes().function("cuInit", CODE_ADDRESS + 0x40));

    assertThat(functions.at(CODE_OFFSET + 0x3f)).isNull();
    assertThat(functions.at(CODE_OFFSET + 0x40)).isEqualTo("cuInit");
    assertThat(functions.at(CODE_OFFSET + 0x47)).isEqualTo("cuInit");
    assertThat(functions.at(CODE_OFFSET + 0x48)).isNull();
  }

  @Test
  void severalNames_simplestIsReturned() throws IOException {
    ElfFunctions functions =
        read(
            new ElfBytes()
                .function("__libc_malloc", CODE_ADDRESS)
                .function("malloc", CODE_ADDRESS)
                .function("_malloc", CODE_ADDRESS));

    assertThat(functions.at(CODE_OFFSET + 3)).isEqualTo("malloc");
  }

  @Test
  void address_isTheOneThatTheFileStates() throws IOException {
    ElfFunctions functions = read(new ElfBytes().function("f", CODE_ADDRESS));

    assertThat(functions.address(CODE_OFFSET + 0x10)).isEqualTo(CODE_ADDRESS + 0x10);
  }

  @Test
  void everyFunctionOfTheCLibrary_hasANameThatNmHasToo() throws Exception {
    Path library = ElfSymbolsTest.cLibrary();
    Map<Long, Set<String>> names = nm("-D", library);
    ElfFunctions functions = ElfFunctions.of(library, directory);

    assertThat(names).hasSizeGreaterThan(1000);
    names.forEach(
        (address, known) -> {
          long offset = offsetOf(functions, address);
          assertThat(known).contains(String.valueOf(functions.at(offset)));
        });
  }

  @Test
  void separateSymbols_areFoundOnlyInTheDebugFileOfTheSameBuild() throws Exception {
    Path program = compiled("inner");
    Path debugFile = debugFile(program);
    Files.createDirectories(debugFile.getParent());
    run("objcopy", "--only-keep-debug", program.toString(), debugFile.toString());
    Map<Long, Set<String>> whole = nm("--defined-only", program);
    long inner = address(whole, "inner");
    run("strip", program.toString());

    ElfFunctions functions = ElfFunctions.of(program, directory);
    assertThat(functions.at(offsetOf(functions, inner))).isEqualTo("inner");

    Path other = compiled("another");
    run("objcopy", "--only-keep-debug", other.toString(), debugFile.toString());
    ElfFunctions unnamed = ElfFunctions.of(program, directory);
    assertThat(unnamed.at(offsetOf(unnamed, inner))).isNull();
  }

  @Test
  void compressedSymbolTable_isRead() throws Exception {
    Path program = compiled("inner");
    long inner = address(nm("--defined-only", program), "inner");
    Path table = directory.resolve("table");
    run("objcopy", "-S", "--keep-symbol=inner", "--only-keep-debug", program + "", table + "");
    run("xz", "-f", table.toString());
    run("strip", program.toString());
    run("objcopy", "--add-section", ".gnu_debugdata=" + table + ".xz", program.toString());

    ElfFunctions functions = ElfFunctions.of(program, directory);

    assertThat(functions.at(offsetOf(functions, inner))).isEqualTo("inner");
  }

  private Path compiled(String function) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc and binutils");
    Path source = directory.resolve(function + ".c");
    Files.writeString(
        source,
        "static __attribute__((noinline)) int %s(int a) { return a * %d; }\n"
                .formatted(function, function.length())
            + "int main(int c, char **v) { return %s(c); }\n".formatted(function));
    Path program = directory.resolve(function);
    run("gcc", "-O1", "-Wl,--build-id", source.toString(), "-o", program.toString());
    return program;
  }

  private Path debugFile(Path program) throws IOException {
    String id = ElfFunctions.of(program, directory).buildId();
    return directory
        .resolve("usr/lib/debug/.build-id")
        .resolve(id.substring(0, 2))
        .resolve(id.substring(2) + ".debug");
  }

  private static long address(Map<Long, Set<String>> names, String function) {
    return names.entrySet().stream()
        .filter(entry -> entry.getValue().contains(function))
        .mapToLong(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  /**
   * Returns the offset of an address; the two differ by whole pages in the files of this machine.
   */
  private static long offsetOf(ElfFunctions functions, long address) {
    for (long pages = 0; pages < 1 << 12; pages++) {
      if (functions.address(address - (pages << 12)) == address) {
        return address - (pages << 12);
      }
    }
    throw new AssertionError("no code at " + Long.toHexString(address));
  }

  private static Map<Long, Set<String>> nm(String option, Path file) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/nm")), "needs nm: apt-get install binutils");
    Map<Long, Set<String>> names = new TreeMap<>();
    for (String line : run("nm", "-S", option, file.toString())) {
      Matcher symbol = NM_LINE.matcher(line);
      if (symbol.matches() && Long.parseLong(symbol.group(2), 16) > 0) {
        names
            .computeIfAbsent(Long.parseLong(symbol.group(1), 16), a -> new TreeSet<>())
            .add(symbol.group(3));
      }
    }
    return names;
  }

  private static List<String> run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).as("%s", lines).isZero();
    return lines;
  }

  private ElfFunctions read(ElfBytes elf) throws IOException {
    return ElfFunctions.of(Files.write(directory.resolve("lib.so"), elf.bytes()), directory);
  }
}
