package io.inferspan.ebpf;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.linux.Clocks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/** The stand-ins for CUDA, built once for all tests. */
final class TestKit {

  private static final Path SOURCES = Path.of("..", "bpf", "testkit").toAbsolutePath().normalize();
  private static final Path BUILT = Path.of("target", "testkit").toAbsolutePath();

  private static boolean built;

  private TestKit() {}

  /**
   * Returns the directory of the libraries and loads; skips the test if they or BPF are
   * unavailable.
   */
  static synchronized Path directory() {
    TestObjects.assumeBpf();
    String python = "needs python3: apt-get install python3";
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), python);
    if (!built) {
      TestObjects.buildLoads(BUILT);
      built = true;
    }
    return BUILT;
  }

  /** Skips the test if the packages of the stand-in engines are missing. */
  static void assumeEngine() throws Exception {
    Process imports =
        new ProcessBuilder(
                "/usr/bin/python3",
                "-c",
                "import fastapi, httptools, msgpack, uvicorn, uvloop, zmq")
            .start();
    assumeTrue(
        imports.waitFor() == 0,
        "needs apt-get install python3-fastapi python3-httptools python3-msgpack python3-uvicorn"
            + " python3-uvloop python3-zmq");
  }

  static Path server() {
    return script("server.py");
  }

  static Path script(String name) {
    return SOURCES.resolve(name);
  }

  /** Returns a configuration that observes only the processes that this one starts. */
  static BridgeConfig.Builder children() {
    BridgeScope scope =
        new BridgeScope(false, Set.of((int) ProcessHandle.current().pid()), Set.of(), "");
    return BridgeConfig.builder().ownThreads(false).scope(scope);
  }

  /** Waits until functions of a library of this name are observed. */
  static void awaitLibrary(EbpfBridge bridge, String name) {
    await("functions of " + name, () -> watches(bridge, name));
  }

  static boolean watches(EbpfBridge bridge, String name) {
    return bridge.status().libraries().stream()
        .map(BridgeStatus.Library::outcome)
        .anyMatch(outcome -> outcome.matches(Pattern.quote(name) + ": [0-9]+ functions"));
  }

  /** Returns the offset from the monotonic clock to the epoch, the best of many measurements. */
  static long epochOffsetNanos() {
    long narrowest = Long.MAX_VALUE;
    long offset = 0;
    for (int i = 0; i < 10_000; i++) {
      long before = Clocks.monotonicNanos();
      long wall = Clocks.realtimeNanos();
      long width = Clocks.monotonicNanos() - before;
      if (width < narrowest) {
        narrowest = width;
        offset = wall - before - width / 2;
      }
    }
    return offset;
  }

  static void await(String what, BooleanSupplier condition) {
    Eventually.is(what, condition);
  }

  static Path scratch(String name) {
    try {
      Path file = Files.createTempFile(BUILT.getParent(), name, "");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
