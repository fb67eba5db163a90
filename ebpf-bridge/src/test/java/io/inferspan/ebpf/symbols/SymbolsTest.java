package io.inferspan.ebpf.symbols;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.linux.Demangler;
import io.inferspan.ebpf.symbols.Symbols.Image;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SymbolsTest {

  private static final int PID = 4711;

  @TempDir private Path proc;

  @BeforeEach
  void process() throws IOException {
    Files.createDirectories(process("root/tmp"));
    Files.writeString(process("status"), "Name:\tjava\nNSpid:\t4711\t7\n");
    Files.writeString(
        process("maps"),
        """
        555500000000-555500002000 r--p 00000000 fd:00 11 /opt/no such file
        555500002000-555500004000 r-xp 00002000 fd:00 11 /opt/no such file
        7f0000000000-7f0000100000 rwxp 00000000 00:00 0\040
        7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0 [vdso]
        ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
        """);
  }

  @Test
  void codeInAnUnreadableFile_isModuleAndOffset() {
    assertThat(at(0x5555_0000_2010L)).isEqualTo("no such file+0x2010");
    assertThat(at(0x7ffc_0000_0123L)).isEqualTo("[vdso]+0x123");
    assertThat(at(0xffff_ffff_ff60_0001L)).isEqualTo("[vsyscall]+0x1");
  }

  @Test
  void codeWithoutAModule_isItsAddress() {
    assertThat(at(0x7f00_0000_0010L)).isEqualTo("0x7f0000000010");
    assertThat(at(0x5555_0000_0010L)).isEqualTo("0x555500000010");
    assertThat(new Symbols(proc).user(Image.now(1), 0x10)).isEqualTo("0x10");
  }

  @Test
  void compiledCode_isNamedByThePerfMapOfThePidInTheContainer() throws IOException {
    perfMap("7f0000000000 20 void Old.gone()\n7f0000000000 10 int A.f(char)\n");

    assertThat(at(0x7f00_0000_000fL)).isEqualTo("int A.f(char)");
    assertThat(at(0x7f00_0000_0010L)).as("a replaced entry").startsWith("0x");
  }

  @Test
  void perfMapThatIsALink_isIgnored() throws IOException {
    Path elsewhere = Files.writeString(proc.resolve("secret"), "7f0000000000 20 secret\n");
    Files.createSymbolicLink(process("root/tmp/perf-7.map"), elsewhere);

    assertThat(at(0x7f00_0000_0001L)).isEqualTo("0x7f0000000001");
  }

  @Test
  void invalidLinesOfAPerfMap_areIgnored() throws IOException {
    perfMap(
        """

        nonsense
        7f0000000000 -1 a
        7f0000000000 0 b
        zz 10 c
        7f0000000040 0x0000000000000008 d e
        """);

    assertThat(at(0x7f00_0000_0000L)).startsWith("0x");
    assertThat(at(0x7f00_0000_0047L)).isEqualTo("d e");
  }

  @Test
  void exitedProcess_keepsItsNames() throws IOException {
    perfMap("7f0000000000 20 f\n");
    Symbols symbols = new Symbols(proc);
    symbols.remember(Image.now(PID));
    Files.delete(process("maps"));
    Files.delete(process("root/tmp/perf-7.map"));

    assertThat(symbols.user(Image.now(PID), 0x7f00_0000_0001L)).isEqualTo("f");
  }

  @Test
  void fileOfAnExitedProcess_isOpenedInThisMountNamespace() throws IOException {
    Files.writeString(process("maps"), Files.readString(Path.of("/proc/self/maps")));
    long address = Linker.nativeLinker().defaultLookup().find("getpid").orElseThrow().address();
    Symbols symbols = new Symbols(proc);
    symbols.remember(Image.now(PID), address);
    Files.delete(process("maps"));

    assertThat(symbols.user(Image.now(PID), address)).endsWith("getpid");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/usr/bin/python3.10 | process 4711 runs Python 3.10: its functions are not supported",
        "/opt/lib/libpython3.9.so.1.0 | process 4711 runs Python 3.9: its functions are not",
        "/usr/bin/python3.13 (deleted) | process 4711 runs Python 3.13: its functions are not known"
            + " without -X perf",
        "/opt/jdk/lib/server/libjvm.so | process 4711 runs a JVM: its compiled functions are not"
      })
  void runtimeWithoutAMap_isReported(String file, String sentence) throws IOException {
    Files.writeString(
        process("maps"), "555500000000-555500002000 r-xp 00000000 fd:00 11 " + file + "\n");

    assertThat(new Symbols(proc).missing(Image.now(PID)))
        .singleElement()
        .asString()
        .startsWith(sentence);
    perfMap("7f0000000000 20 f\n");
    assertThat(new Symbols(proc).missing(Image.now(PID))).isEmpty();
  }

  @Test
  void programWithoutARuntime_lacksNoNames() {
    assertThat(new Symbols(proc).missing(Image.now(PID))).isEmpty();
  }

  @Test
  void kernelFunction_isTheOneThatContainsTheAddress() throws IOException {
    Files.writeString(
        proc.resolve("kallsyms"),
        """
        ffffffff81000000 T _text
        ffffffff81000010 t do_one
        ffffffff81000020 D data
        ffffffffc0000000 t of_module\t[module]
        """);
    Symbols symbols = new Symbols(proc);

    assertThat(symbols.kernel(0xffff_ffff_8100_0015L)).isEqualTo("do_one");
    assertThat(symbols.kernel(0xffff_ffff_c000_0004L)).isEqualTo("of_module");
    assertThat(symbols.kernel(0xffff_ffff_a000_0000L)).isEqualTo("0xffffffffa0000000");
    assertThat(symbols.kernelIsVisible()).isTrue();
  }

  @Test
  void kernelFunctionsWithHiddenAddresses_haveNoNames() throws IOException {
    Files.writeString(proc.resolve("kallsyms"), "0000000000000000 T _text\n");

    assertThat(new Symbols(proc).kernelIsVisible()).isFalse();
    assertThat(new Symbols(proc).kernel(0xffff_ffff_8100_0015L)).isEqualTo("0xffffffff81000015");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "_ZN2at6native3addEi | at::native::add(int)",
        "_ZN4core3ptr33drop_in_place$LT$$u5b$u8$u5d$$GT$17h0123456789abcdefE |"
            + " core::ptr::drop_in_place<[u8]>",
        "_RNvC6_123foo3bar | _RNvC6_123foo3bar",
        "_Znonsense | _Znonsense",
        "main | main"
      })
  void mangledName_isDemangled(String name, String plain) {
    assumeTrue(Demangler.isAvailable(), "needs libstdc++.so.6: apt-get install libstdc++6");
    assertThat(Names.plain(name)).isEqualTo(plain);
  }

  private String at(long address) {
    return new Symbols(proc).user(Image.now(PID), address);
  }

  private void perfMap(String content) throws IOException {
    Files.writeString(process("root/tmp/perf-7.map"), content);
  }

  private Path process(String file) {
    return proc.resolve(Integer.toString(PID)).resolve(file);
  }
}
