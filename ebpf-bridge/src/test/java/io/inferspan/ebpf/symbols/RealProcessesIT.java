package io.inferspan.ebpf.symbols;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.stacks.Pythons;
import io.inferspan.ebpf.symbols.Symbols.Image;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes whose function addresses are known, because they or their perf map list them. */
class RealProcessesIT {

  private static final String CPP =
      """
      #include <cstdio>
      #include <unistd.h>
      namespace at { template <class T> struct Tensor { T v; __attribute__((noinline)) T sum(T a) { return v + a; } }; }
      static __attribute__((noinline)) int hidden(int a) { return a * 7; }
      extern "C" __attribute__((noinline)) int plain(int a) { return a * 5; }
      int main(int c, char **) {
        auto method = &at::Tensor<int>::sum; at::Tensor<int> t{c};
        printf("%lx at::Tensor<int>::sum(int)\\n", *(unsigned long *) &method);
        printf("%lx hidden(int)\\n%lx plain\\n%lx main\\n", (long) &hidden, (long) &plain, (long) &main);
        printf("%lx write\\n\\n", (long) &write);
        fflush(stdout); volatile int r = (t.*method)(c) + hidden(c) + plain(c); getchar(); return r;
      }
      """;

  private static final String GO =
      """
      package main
      import ("bytes"; "errors"; "fmt"; "math"; "os"; "reflect"; "runtime"; "sort"; "strconv"; "strings"; "sync"; "time"; "unicode/utf8")
      type engine struct{ n int }
      //go:noinline
      func (e *engine) step(a int) int { return e.n + a }
      //go:noinline
      func prefill(a int) int { return a * 3 }
      func main() {
        for _, f := range []interface{}{prefill, (*engine).step, main, fmt.Println, runtime.GC, os.Getenv,
            bytes.Repeat, errors.New, fmt.Sprintf, math.Pow, os.ReadFile, sort.Strings, strconv.Atoi, strconv.FormatInt,
            strings.Split, strings.ToUpper, (*sync.Mutex).Lock, time.Now, time.Sleep, utf8.ValidString} {
          pc := reflect.ValueOf(f).Pointer()
          fmt.Printf("%x %s\\n", pc, runtime.FuncForPC(pc).Name())
        }
        fmt.Println(); os.Stdin.Read(make([]byte, 1))
      }
      """;

  private static final String RUST =
      """
      mod engine { #[inline(never)] pub fn step(a: usize) -> usize { a + 1 } }
      #[inline(never)] fn prefill(a: usize) -> usize { engine::step(a) * 3 }
      fn main() {
        println!("{:x} engine::engine::step", engine::step as fn(usize) -> usize as usize);
        println!("{:x} engine::prefill\\n", prefill as fn(usize) -> usize as usize);
        let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); println!("{}", prefill(s.len()));
      }
      """;

  private static final String JAVA =
      """
      public class Busy {
        static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        METHODS
        public static void main(String[] a) throws Exception {
          int r = 0; for (int i = 0; i < 40; i++) r += fib(25);
          for (int i = 0; i < 20_000; i++) { CALLS }
          System.out.println("\\n" + r); System.in.read();
        }
      }
      """;

  private static final String PYTHON =
      """
      FUNCTIONS
      for i in range(100): CALLS
      print("\\n", flush=True); input()
      """;

  private static final List<String> FUNCTIONS =
      List.of(
          "prefill",
          "decode",
          "schedule",
          "sample",
          "allocate",
          "release",
          "attend",
          "rotate",
          "project",
          "normalise",
          "activate",
          "gather",
          "scatter",
          "reduce",
          "broadcast",
          "encode",
          "tokenize",
          "detokenize",
          "preempt",
          "finish");

  @TempDir private Path directory;
  private final Symbols symbols = Symbols.ofThisMachine();
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void cppFunctions_haveTheNamesOfTheSource() throws Exception {
    Path source = Files.writeString(directory.resolve("load.cpp"), CPP);
    run("g++", "-O1", "-fno-omit-frame-pointer", source + "", "-o", directory.resolve("load") + "");

    assertNamed(start(directory.resolve("load").toString()), 5);
  }

  @Test
  void strippedFunctions_areModuleAndAddress() throws Exception {
    Path source = Files.writeString(directory.resolve("load.cpp"), CPP);
    run("g++", "-O1", "-s", source + "", "-o", directory.resolve("load") + "");
    Started load = start(directory.resolve("load").toString());

    for (String line : load.lines().subList(0, 4)) {
      assertThat(symbols.user(Image.now(load.pid()), address(line) + 1))
          .matches("load\\+0x[0-9a-f]+");
    }
  }

  @Test
  void goFunctions_haveTheNamesOfTheGoRuntime() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/go")), "needs go: apt-get install golang-go");
    Path source = Files.writeString(directory.resolve("load.go"), GO);
    run("go", "build", "-o", directory.resolve("load").toString(), source.toString());

    Started load = start(directory.resolve("load").toString());
    assertNamed(load, 20);
    assertThat(load.lines())
        .extracting(line -> line.substring(line.indexOf(' ') + 1))
        .contains("main.prefill", "main.(*engine).step", "main.main", "sync.(*Mutex).Lock");
  }

  @Test
  void rustFunctions_areNamedWithoutTheirHash() throws Exception {
    Started load = rust();

    assertNamed(load, 2);
    assertThat(symbols.missing(Image.now(load.pid()))).isEmpty();
  }

  @Test
  void rustFunctionsInV0Mangling_areReported() throws Exception {
    Started load = rust("-Csymbol-mangling-version=v0");

    for (String line : load.lines()) {
      assertThat(symbols.user(Image.now(load.pid()), address(line) + 1)).startsWith("_RN");
    }
    assertThat(symbols.missing(Image.now(load.pid())))
        .containsExactly(
            "process %d has Rust names in v0 mangling (_R…), which is not supported: pass folded text through rustfilt or c++filt"
                .formatted(load.pid()));
  }

  private Started rust(String... options) throws Exception {
    String home = System.getProperty("user.home");
    Path rustc =
        Stream.of(Path.of("/usr/bin/rustc"), Path.of(home, ".cargo/bin/rustc"))
            .filter(Files::isExecutable)
            .findFirst()
            .orElse(null);
    assumeTrue(rustc != null, "needs rustc: apt-get install rustc");
    Path source = Files.writeString(directory.resolve("engine.rs"), RUST);
    Path engine = directory.resolve("engine");
    List<String> command =
        new ArrayList<>(List.of(rustc + "", "-O", source + "", "-o", engine + ""));
    command.addAll(List.of(options));
    run(command.toArray(String[]::new));
    return start(engine.toString());
  }

  @Test
  void javaMethods_areNamedByThePerfMap() throws Exception {
    String methods = each("static int %s(int a) { return a + fib(1); } ");
    Path source =
        Files.writeString(
            directory.resolve("Busy.java"),
            JAVA.replace("METHODS", methods).replace("CALLS", each("r += %s(r); ")));
    Started load =
        start(
            System.getProperty("java.home") + "/bin/java",
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=dontinline,Busy::*",
            "-Xbatch",
            source.toString());
    run(System.getProperty("java.home") + "/bin/jcmd", load.pid() + "", "Compiler.perfmap");
    assertNamedBy(load.pid(), name -> "int Busy." + name + "(int)");
  }

  @Test
  void pythonFunctions_areNamedByTheirTrampolines() throws Exception {
    List<List<String>> interpreters = Pythons.withTrampolines();
    assumeTrue(!interpreters.isEmpty(), "needs Python 3.12 or newer");
    Path source =
        Files.writeString(
            directory.resolve("load.py"),
            PYTHON
                .replace("FUNCTIONS", each("def %s(a): return a + 1\n").strip())
                .replace("CALLS", each("%s(i); ")));
    List<String> command = new ArrayList<>(interpreters.getFirst());
    command.addAll(List.of("-X", "perf", source.toString()));
    Started load = start(command.toArray(String[]::new));
    assertNamedBy(load.pid(), name -> "py::" + name + ":" + source);
  }

  /** Repeats a text, formatted with each of {@link #FUNCTIONS}. */
  private static String each(String text) {
    return FUNCTIONS.stream().map(text::formatted).collect(Collectors.joining());
  }

  @Test
  void kernelFunctions_haveTheNamesOfKallsyms() throws IOException {
    assumeTrue(symbols.kernelIsVisible(), "needs root: sudo ./check");
    List<String> listed = Files.readAllLines(Path.of("/proc/kallsyms"));
    List<String> functions =
        new ArrayList<>(
            listed.stream().filter(line -> line.matches("[0-9a-f]+ [tT] \\S+")).toList());
    Collections.shuffle(functions, new Random(7));

    Set<String> known = new HashSet<>();
    listed.forEach(
        line -> known.add(line.replaceFirst(" [a-zA-Z] ", " ").replaceFirst("\t.*", "")));
    for (String line : functions.subList(0, 1000)) {
      String name = symbols.kernel(Long.parseUnsignedLong(line.substring(0, 16), 16));
      assertThat(known.contains(line.substring(0, 16) + " " + name)).as(line).isTrue();
    }
  }

  /** A process, and the lines that it printed before an empty line. */
  private record Started(int pid, List<String> lines) {}

  private Started start(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    started.add(process);
    List<String> lines = new ArrayList<>();
    String line = process.inputReader().readLine();
    while (line != null && !line.isEmpty()) {
      lines.add(line);
      line = process.inputReader().readLine();
    }
    return new Started((int) process.pid(), lines);
  }

  private void assertNamed(Started load, int count) {
    assertThat(load.lines()).hasSize(count);
    for (String line : load.lines()) {
      assertThat(symbols.user(Image.now(load.pid()), address(line) + 1))
          .isEqualTo(line.substring(line.indexOf(' ') + 1));
    }
  }

  /** Asserts that addresses in the perf map of a process have its names, all of FUNCTIONS too. */
  private void assertNamedBy(int pid, UnaryOperator<String> name) throws IOException {
    Path map = Path.of("/tmp/perf-" + pid + ".map");
    try {
      Set<String> named = new HashSet<>();
      for (String line : Files.readAllLines(map)) {
        String known = symbols.user(Image.now(pid), address(line));
        if (line.endsWith(" " + known)) {
          named.add(known);
        }
      }
      assertThat(named).containsAll(FUNCTIONS.stream().map(name).toList());
    } finally {
      Files.delete(map);
    }
  }

  private static long address(String line) {
    return Long.decode("0x" + line.substring(0, line.indexOf(' ')).replace("0x", ""));
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }
}
