package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.linux.OpenFiles;
import io.inferspan.testing.TracingExtension;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Starting, combining, closing and killing bridges. */
class BridgeLifecycleIT {

  private static final int CYCLES = Integer.getInteger("ebpf.cycles", 20);
  private static final String LATE =
      """
      import ctypes, sys
      print("ready", flush=True)
      for line in sys.stdin:
          library = ctypes.CDLL(sys.argv[1])
          print("done", flush=True)
      """;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final List<AutoCloseable> opened = new ArrayList<>();
  private Telemetry telemetry;

  @BeforeEach
  void needsBpf() {
    TestObjects.assumeBpf();
    telemetry = Telemetry.using(tracing.openTelemetry());
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void bridge_attachesEveryProgram() {
    BridgeStatus status = bridge(BridgeConfig.defaults()).status();

    assertThat(status.programs()).allMatch(BridgeStatus.Program::attached).hasSizeGreaterThan(10);
    assertThat(status.flow().ring().capacityBytes()).isEqualTo(16 << 20);
    assertThat(status.failures())
        .containsOnlyKeys("library", "process", "target", "ring", "own_thread", "switch");
  }

  @Test
  void libraryOpenedLater_isFound() {
    EbpfBridge bridge = bridge(others());
    JavaChild child = child(LATE, TestKit.directory().resolve("libcuda.so.1").toString());
    assertThat(child.line()).isEqualTo("ready");
    assertThat(bridge.status().libraries()).isEmpty();

    child.send("load");

    TestKit.awaitLibrary(bridge, "libcuda.so.1");
  }

  @Test
  void processExits_itsLibraryIsRemoved() {
    EbpfBridge bridge = bridge(others());
    JavaChild child = child(LATE, TestKit.directory().resolve("libcuda.so.1").toString());
    child.line();
    child.send("load");
    TestKit.awaitLibrary(bridge, "libcuda.so.1");

    child.kill();

    TestKit.await("the library to be removed", () -> bridge.status().libraries().isEmpty());
  }

  @Test
  void repeatedStarts_leaveNothingBehind() throws IOException {
    EbpfBridge.attach(telemetry, others()).close();
    int files = OpenFiles.count();
    long threads = bridgeThreads();
    KernelObjects made = new KernelObjects(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    for (int i = 0; i < CYCLES; i++) {
      try (EbpfBridge bridge = EbpfBridge.attach(telemetry, others())) {
        assertThat(bridge.support()).isInstanceOf(EbpfSupport.Available.class);
        KernelObjects held = KernelObjects.of(ProcessHandle.current().pid());
        made.programs().addAll(held.programs());
        made.maps().addAll(held.maps());
        made.links().addAll(held.links());
      }
    }

    assertThat(made.links()).hasSizeGreaterThanOrEqualTo(10 * CYCLES);
    assertThat(OpenFiles.count()).isLessThanOrEqualTo(files);
    assertThat(bridgeThreads()).isEqualTo(threads);
    TestKit.await("the kernel to free all objects", () -> made.alive().isEmpty());
  }

  @Test
  void killedProcess_leavesNothingAttached() throws IOException {
    JavaChild child = JavaChild.start(BridgeProcess.class, Map.of("OTEL_TRACES_EXPORTER", "none"));
    opened.add(child);
    assertThat(child.line()).isEqualTo("attached");
    KernelObjects held = KernelObjects.of(child.pid());
    assertThat(held.links()).hasSizeGreaterThanOrEqualTo(10);
    assertThat(held.alive()).isNotEmpty();

    child.kill();

    TestKit.await("the kernel to free all objects", () -> held.alive().isEmpty());
  }

  @Test
  void twoBridges_eachReadsAllEvents() throws Exception {
    EbpfBridge first = bridge(others());
    EbpfBridge second = bridge(others());
    JavaChild third = JavaChild.start(BridgeProcess.class, Map.of("OTEL_TRACES_EXPORTER", "none"));
    opened.add(third);
    third.line();
    PythonServer server = PythonServer.start(Map.of());
    opened.add(server);
    TestKit.awaitLibrary(first, "libcuda.so.1");
    TestKit.awaitLibrary(second, "libcuda.so.1");

    Requests.send(server, 1);
    assertSees(first, 8);
    assertSees(second, 8);
    first.close();
    Requests.send(server, 1);

    assertSees(second, 16);
    assertSees(first, 8);
  }

  @Test
  void selectedProcess_isTheOnlyOneObserved() throws Exception {
    PythonServer chosen = PythonServer.start(Map.of());
    PythonServer other = PythonServer.start(Map.of());
    opened.add(chosen);
    opened.add(other);
    BridgeScope scope = new BridgeScope(false, Set.of((int) chosen.pid()), Set.of(), "");
    EbpfBridge bridge = bridge(BridgeConfig.builder().ownThreads(false).scope(scope).build());
    TestKit.awaitLibrary(bridge, "libcuda.so.1");

    Requests.send(other, 1);
    Requests.send(chosen, 1);

    assertSees(bridge, 8);
  }

  @Test
  void noPrivileges_oneLineIsLoggedAndTheApplicationContinues() throws IOException {
    List<String> command =
        new ArrayList<>(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
    command.add("--inh-caps=-all");
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "--enable-native-access=ALL-UNNAMED", "-cp"));
    command.addAll(List.of(ReadableClassPath.all(), BridgeProcess.class.getName(), "once"));
    String output =
        ChildProcess.run(ChildProcess.under(command, "env", "OTEL_TRACES_EXPORTER=none"));

    assertThat(output).contains("the application continues").doesNotContain("Exception");
    assertThat(output.lines().filter(line -> line.contains("eBPF bridge")))
        .singleElement()
        .asString()
        .contains("The eBPF bridge is off; everything else works. privileges: neither CAP_BPF")
        .contains("run as root");
  }

  @Test
  void metersOfAClosedBridge_keepTheirLastValues() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    EbpfBridge bridge = bridge(others());
    bridge.bindTo(registry);
    bridge.close();

    assertThat(registry.get("inferspan.ebpf.ring.fill").gauge().value()).isZero();
    for (Meter meter : registry.getMeters()) {
      assertThat(meter.measure())
          .as(meter.getId().toString())
          .allSatisfy(one -> assertThat(one.getValue()).isNotNaN());
    }
  }

  private static BridgeConfig others() {
    return TestKit.children().build();
  }

  private EbpfBridge bridge(BridgeConfig config) {
    EbpfBridge bridge = EbpfBridge.attach(telemetry, config);
    opened.add(bridge);
    assertThat(bridge.support()).isInstanceOf(EbpfSupport.Available.class);
    return bridge;
  }

  private JavaChild child(String script, String argument) {
    JavaChild child =
        JavaChild.start(List.of("/usr/bin/python3", "-c", script, argument), Map.of());
    opened.add(child);
    return child;
  }

  private static void assertSees(EbpfBridge bridge, long calls) {
    TestKit.await("CUDA events", () -> cudaCalls(bridge) >= calls);
    assertThat(cudaCalls(bridge)).isEqualTo(calls);
  }

  private static long cudaCalls(EbpfBridge bridge) {
    return bridge.status().events().stream()
        .filter(events -> events.kind().startsWith("cuda."))
        .mapToLong(BridgeStatus.Events::read)
        .sum();
  }

  private static long bridgeThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("inferspan-ebpf"))
        .count();
  }
}
