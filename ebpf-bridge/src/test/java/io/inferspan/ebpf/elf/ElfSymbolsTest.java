package io.inferspan.ebpf.elf;

import static io.inferspan.ebpf.elf.ElfBytes.CODE_ADDRESS;
import static io.inferspan.ebpf.elf.ElfBytes.CODE_OFFSET;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ElfSymbolsTest {

  private static final Pattern EXPORTED_FUNCTION = Pattern.compile("[0-9a-f]+ [TW] ([^@]+).*");
  private static final int UNDEFINED = 0;
  private static final int OBJECT = 1;
  private static final int FUNCTION = 2;
  private static final int INDIRECT = 10;

  @TempDir private Path directory;

  @Test
  void function_isFoundWhereItLiesInTheFile() throws IOException {
    ElfSymbols symbols = read(new ElfBytes().function("cuInit", CODE_ADDRESS + 0x40));

    assertThat(symbols.fileOffset("cuInit")).isEqualTo(OptionalLong.of(CODE_OFFSET + 0x40));
  }

  @Test
  void absentFunction_isEmpty() throws IOException {
    assertThat(read(new ElfBytes().function("cuInit", CODE_ADDRESS)).fileOffset("cuLaunch"))
        .isEmpty();
  }

  @Test
  void symbolsOtherThanOwnFunctions_areLeftOut() throws IOException {
    ElfSymbols symbols =
        read(
            new ElfBytes()
                .symbol("imported", CODE_ADDRESS, FUNCTION, UNDEFINED)
                .symbol("variable", CODE_ADDRESS, OBJECT, 1)
                .symbol("resolver", CODE_ADDRESS, INDIRECT, 1)
                .function("outside", CODE_ADDRESS - 1)
                .function("beyond", CODE_ADDRESS + 0x200)
                .function("", CODE_ADDRESS)
                .function("last", CODE_ADDRESS + 0x1ff));

    assertThat(symbols.functions()).containsExactly("last");
  }

  @Test
  void duplicateName_firstFunctionIsReturned() throws IOException {
    ElfSymbols symbols =
        read(new ElfBytes().function("f", CODE_ADDRESS + 1).function("f", CODE_ADDRESS + 2));

    assertThat(symbols.fileOffset("f")).hasValue(CODE_OFFSET + 1);
  }

  @Test
  void endlessName_isLeftOut() throws IOException {
    assertThat(read(new ElfBytes().function("x".repeat(200), CODE_ADDRESS)).functions()).hasSize(1);
    assertThat(longName(600).functions()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "#!/bin/sh",
        "\177ELF\1\1 but of 32 bits, and long enough for a header........."
      })
  void fileThatIsNotALibrary_isRefused(String content) throws IOException {
    Path file =
        Files.writeString(directory.resolve("lib.so"), content, StandardCharsets.ISO_8859_1);

    assertThatThrownBy(() -> ElfSymbols.of(file)).isInstanceOf(ElfException.class);
  }

  @Test
  void device_isNotRead() {
    assertThatThrownBy(() -> ElfSymbols.of(Path.of("/dev/zero")))
        .isInstanceOf(ElfException.class)
        .hasMessage("not a regular file: /dev/zero");
  }

  @Test
  void withoutAnXzLibrary_functionsAreRead() throws Exception {
    URL classes = ElfFunctions.class.getProtectionDomain().getCodeSource().getLocation();
    Path file = Path.of(System.getProperty("java.home"), "bin/java");
    try (URLClassLoader alone =
        new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
      Class<?> reader = alone.loadClass(ElfFunctions.class.getName());

      assertThat(reader.getMethod("of", Path.class, Path.class).invoke(null, file, directory))
          .isNotNull();
    }
  }

  @Test
  void symbolsOfTheCLibrary_areThoseThatNmReads() throws IOException, InterruptedException {
    Path library = cLibrary();
    Path nm = Path.of("/usr/bin/nm");
    assumeTrue(Files.isExecutable(nm), "needs nm: apt-get install binutils");
    ElfSymbols symbols = ElfSymbols.of(library);
    List<String> exported = output(nm.toString(), "-D", "--defined-only", library.toString());

    List<String> functions =
        exported.stream()
            .map(EXPORTED_FUNCTION::matcher)
            .filter(Matcher::matches)
            .map(line -> line.group(1))
            .distinct()
            .toList();
    assertThat(functions).hasSizeGreaterThan(1000);
    assertThat(symbols.functions()).containsAll(functions);
  }

  /** Returns the C library that this process has mapped. */
  static Path cLibrary() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.endsWith("/libc.so.6"))
        .map(line -> Path.of(line.substring(line.indexOf('/'))))
        .findFirst()
        .orElseThrow();
  }

  private ElfSymbols longName(int chars) throws IOException {
    byte[] bytes = new ElfBytes().function("x".repeat(200), CODE_ADDRESS).bytes();
    // Zeros follow the table of names up to the sections: the bytes become one long name.
    Arrays.fill(bytes, 0x301, 0x301 + chars, (byte) 'x');
    bytes[0x600 + 2 * 64 + 32] = 0;
    bytes[0x600 + 2 * 64 + 33] = 3;
    return ElfSymbols.of(Files.write(directory.resolve("long.so"), bytes));
  }

  private ElfSymbols read(ElfBytes elf) throws IOException {
    return ElfSymbols.of(Files.write(directory.resolve("lib.so"), elf.bytes()));
  }

  private static List<String> output(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).start();
    List<String> lines = process.inputReader().lines().toList();
    process.waitFor();
    return lines;
  }
}
