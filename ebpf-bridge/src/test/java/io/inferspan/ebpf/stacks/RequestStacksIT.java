package io.inferspan.ebpf.stacks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeScope;
import io.inferspan.ebpf.ChildProcess;
import io.inferspan.ebpf.EbpfBridge;
import io.inferspan.ebpf.Eventually;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.stacks.StackRecorder.Kind;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stacks of concurrent requests to a server that serves each one with a different call path. */
class RequestStacksIT {

  private static final int CONNECTIONS = 50;

  /** The requests per connection: one with a trace, one without, and one with another trace. */
  private static final int TURNS = 3;

  /** The path of all requests without a trace, and of no other request. */
  private static final int UNTRACED = 55;

  /** A path whose launches are always known before their kernels. */
  private static final int LATE = 53;

  private static final int HERTZ = 499;
  private static final Pattern PATH = Pattern.compile(";void path<([0-9]+)>\\(\\);");
  private static final String NONE = "no trace;";

  @TempDir private static Path directory;
  private static Process server;
  private static int port;

  @BeforeAll
  static void startServer() throws IOException {
    TestObjects.assumeBpf();
    TestObjects.buildLoads(directory);
    Path program = directory.resolve("paths");
    ChildProcess.run(
        List.of(
            "g++",
            "-O0",
            "-fno-omit-frame-pointer",
            "-Wl,-rpath," + directory,
            "-o",
            program.toString(),
            Path.of("../bpf/testkit/paths.cpp").toAbsolutePath().normalize().toString(),
            directory.resolve("libcuda.so.1").toString(),
            "-lpthread"));
    server = start(Map.of());
    port = Integer.parseInt(server.inputReader().readLine());
  }

  private static Process start(Map<String, String> environment) throws IOException {
    ProcessBuilder command = new ProcessBuilder(directory.resolve("paths").toString());
    command.environment().put("LD_PRELOAD", directory.resolve("libparcagpucupti.so").toString());
    command.environment().putAll(environment);
    return command.start();
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.destroyForcibly();
    }
  }

  @Test
  void samplesOfARequest_haveOnlyItsPath() throws Exception {
    String one = trace(7, 2);
    try (EbpfBridge bridge = bridge();
        StackRecorder all = recorder(new StackScope(pids(), true, null), Kind.ON_CPU);
        StackRecorder single = recorder(new StackScope(pids(), false, one), Kind.ON_CPU)) {
      ask();
      StackCounts counts = all.counts(Unit.SAMPLES);

      assertOwnPathsOnly(counts);
      // Hash collisions in the kernel's table of stacks lose some.
      assertThat(all.lost()).isLessThan(counts.total() / 100);
      StackCounts graph = single.counts(Unit.SAMPLES);
      assertThat(graph.total()).isPositive();
      assertThat(graph.sorted().keySet())
          .filteredOn(stack -> stack.contains("path<"))
          .isNotEmpty()
          .allMatch(stack -> pathOf(stack) == path(7, 2))
          .anyMatch(stack -> stack.contains(";void path<" + path(7, 2) + ">();compute()"));
      assertThat(counts.ofTrace(one).total()).isPositive();
      report(counts);
    }
  }

  @Test
  void waitsOfARequest_haveOnlyItsPath() throws Exception {
    try (EbpfBridge bridge = bridge();
        StackRecorder recorder = recorder(new StackScope(pids(), true, null), Kind.OFF_CPU)) {
      ask();
      StackCounts counts = recorder.counts(Unit.NANOS);

      assertOwnPathsOnly(counts);
      List<String> without = new ArrayList<>();
      forEachTraced(
          (trace, number) -> {
            StackCounts own = counts.ofTrace(trace);
            String nap = ";void path<" + number + ">();nap();usleep;";
            if (total(own, nap, "nanosleep_[k]") < 20_000_000) {
              without.add(own.sorted().toString());
            }
          });
      // Some kernels do not report every context switch.
      assertThat(without).hasSizeLessThanOrEqualTo(Math.toIntExact(recorder.lostReturns()));
    }
  }

  @Test
  void callsOfARequest_areCountedUnderItsPathWithTheNameOfTheKernel() throws Exception {
    try (EbpfBridge bridge = bridge();
        StackRecorder recorder = recorder(new StackScope(pids(), true, null), Kind.CUDA)) {
      ask();
      StackCounts calls = recorder.counts(Unit.CALLS);
      StackCounts bytes = recorder.counts(Unit.BYTES);

      assertThat(recorder.lost()).isZero();
      assertOwnPathsOnly(calls);
      forEachTraced(
          (trace, number) -> {
            String kernel = "cuLaunchKernel;-;void kernel<" + number + ">(float*)_[G]";
            StackCounts own = calls.ofTrace(trace);
            assertThat(own.total()).as(trace).isEqualTo(number + 2);
            assertThat(total(own, "path<" + number + ">();launch(int);" + kernel))
                .as("%s", own.sorted())
                .isEqualTo(number + 1);
            assertThat(total(bytes.ofTrace(trace), ";launch(int);cuMemcpyHtoD_v2"))
                .isEqualTo(1000 + number);
          });
      assertThat(calls.ofTrace(trace(0, 0)).sorted()).hasSize(2);
      assertThat(recorder.counts(Unit.NANOS).total()).isPositive();
    }
  }

  @Test
  void deviceWorkOfARequest_isUnderItsLaunches() throws Exception {
    try (EbpfBridge bridge = bridge();
        StackRecorder recorder = recorder(new StackScope(pids(), true, null), Kind.DEVICE)) {
      ask();
      Eventually.is("all kernels", () -> kernelsOf(recorder) == launches());
      StackCounts nanos = recorder.counts(Unit.NANOS);
      StackCounts samples = recorder.counts(Unit.SAMPLES);

      assertThat(recorder.lost()).isZero();
      assertThat(recorder.unnamed()).isZero();
      assertThat(recorder.unattributed()).as("kernels of an unreported launch").isEqualTo(1);
      forEachTraced(
          (trace, number) -> {
            String kernel =
                "path<%d>();launch(int);cuLaunchKernel;-;void kernel<%1$d>(float*)_[G]"
                    .formatted(number);
            long launches = number + 1L;
            assertThat(total(nanos.ofTrace(trace), kernel))
                .as("%s", nanos.ofTrace(trace).sorted())
                .isEqualTo(nanos.ofTrace(trace).total())
                .isEqualTo(launches * 1000 * (number + 1));
            StackCounts own = samples.ofTrace(trace);
            assertThat(total(own, kernel + ";long_scoreboard_[g];0x40_[g]"))
                .as("%s", own.sorted())
                .isEqualTo(launches * (number + 1));
            assertThat(total(own, kernel + ";selected_[g];0x40_[g]")).isEqualTo(launches);
          });
    }
  }

  @Test
  void workOfUnknownLaunches_isKeptUpToALimitAndThenCountedAsLost() throws Exception {
    int unknown = 20_000;
    Process other = start(Map.of("FAKE_UNKNOWN_KERNELS", Integer.toString(unknown)));
    try (StackRecorder recorder = recorder(StackScope.of(List.of((int) other.pid())), Kind.DEVICE);
        Socket socket =
            new Socket(
                InetAddress.getLoopbackAddress(),
                Integer.parseInt(other.inputReader().readLine()))) {
      request(socket, LATE, "");

      Eventually.is("all kernels", () -> kernelsOf(recorder) == LATE + 1);
      assertThat(recorder.unattributed()).isBetween(16_000L, 16_384L);
      assertThat(recorder.unattributed() + recorder.lost()).isEqualTo(unknown);
    } finally {
      other.destroyForcibly();
    }
  }

  private static long kernelsOf(StackRecorder recorder) {
    recorder.look();
    return recorder.counts(Unit.CALLS).total();
  }

  private static long launches() {
    long[] sum = {CONNECTIONS * (UNTRACED + 1L)};
    forEachTraced((trace, number) -> sum[0] += number + 1);
    return sum[0];
  }

  @Test
  void deviceWorkWithoutTheLibraryThatReportsIt_isRefused() {
    int pid = (int) ProcessHandle.current().pid();
    try (StackRecorder recorder = recorder(StackScope.of(List.of(pid)), Kind.DEVICE)) {
      assertThatThrownBy(() -> recorder.counts(Unit.NANOS))
          .isInstanceOf(BpfException.class)
          .hasMessageContaining("no process has loaded libparcagpucupti.so")
          .hasMessageContaining("--cuda");
    }
  }

  @Test
  void stacksByTraceWithoutABridge_areRefused() {
    assertThatThrownBy(() -> recorder(new StackScope(pids(), true, null), Kind.ON_CPU))
        .isInstanceOf(BpfException.class)
        .hasMessageContaining("no bridge is running");
  }

  @Test
  void recording_failsAfterTheBridgeHasEnded() {
    EbpfBridge bridge = bridge();
    try (StackRecorder recorder = recorder(new StackScope(pids(), true, null), Kind.ON_CPU)) {
      recorder.look();
      bridge.close();

      Eventually.is(
          "the error about the ended bridge",
          () -> {
            try {
              recorder.look();
              return false;
            } catch (BpfException ended) {
              return ended.reason().contains("has ended");
            }
          });
    }
  }

  private static EbpfBridge bridge() {
    BridgeScope scope = new BridgeScope(false, Set.copyOf(pids()), Set.of(), "");
    BridgeConfig config = BridgeConfig.builder().ownThreads(false).scope(scope).build();
    return EbpfBridge.attach(Telemetry.using(OpenTelemetry.noop()), config);
  }

  private static List<Integer> pids() {
    return List.of((int) server.pid());
  }

  private static StackRecorder recorder(StackScope scope, Kind kind) {
    return StackRecorder.start(scope, kind, HERTZ);
  }

  /** Sends the requests of all connections at the same time, so that they overlap. */
  private static void ask() throws Exception {
    CyclicBarrier together = new CyclicBarrier(CONNECTIONS);
    try (ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS)) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        int connection = i;
        done.add(
            clients.submit(
                () -> {
                  ask(connection, together);
                  return null;
                }));
      }
      for (Future<?> each : done) {
        each.get();
      }
    }
  }

  private static void ask(int connection, CyclicBarrier together) throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      for (int turn = 0; turn < TURNS; turn++) {
        together.await();
        String traceparent =
            turn == 1
                ? ""
                : "traceparent: 00-" + trace(connection, turn) + "-00000000000000b7-01\r\n";
        request(socket, path(connection, turn), traceparent);
      }
    }
  }

  private static void request(Socket socket, int path, String traceparent) throws IOException {
    String head = "GET /" + path + " HTTP/1.1\r\nHost: a\r\n" + traceparent + "\r\n";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    byte[] answer =
        socket
            .getInputStream()
            .readNBytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".length());
    assertThat(new String(answer, StandardCharsets.US_ASCII)).endsWith("ok");
  }

  private static int path(int connection, int turn) {
    return turn == 1 ? UNTRACED : (connection + 17 * turn) % CONNECTIONS;
  }

  private static String trace(int connection, int turn) {
    return "%016x%016x".formatted(0xace + turn, connection + 1);
  }

  /** An assertion about a traced request. */
  private interface Claim {
    void of(String trace, int path);
  }

  private static void forEachTraced(Claim claim) {
    for (int connection = 0; connection < CONNECTIONS; connection++) {
      claim.of(trace(connection, 0), path(connection, 0));
      claim.of(trace(connection, 2), path(connection, 2));
    }
  }

  private static void assertOwnPathsOnly(StackCounts counts) {
    forEachTraced(
        (trace, number) -> {
          Set<String> own = counts.ofTrace(trace).sorted().keySet();
          assertThat(own).as(trace).anyMatch(stack -> pathOf(stack) == number);
          assertThat(own).as(trace).allMatch(stack -> List.of(number, -1).contains(pathOf(stack)));
        });
    long traced = 0;
    long missed = 0;
    for (Map.Entry<String, Long> stack : counts.sorted().entrySet()) {
      int path = pathOf(stack.getKey());
      if (path == UNTRACED) {
        assertThat(stack.getKey()).startsWith(NONE);
      } else if (path >= 0) {
        traced += stack.getValue();
        missed += stack.getKey().startsWith(NONE) ? stack.getValue() : 0;
      }
    }
    assertThat(missed / (double) traced).as("share without a trace").isLessThanOrEqualTo(0.01);
  }

  /** Returns the number of a stack's path; -1 if it has none. */
  private static int pathOf(String stack) {
    Matcher path = PATH.matcher(stack + ";");
    return path.find() ? Integer.parseInt(path.group(1)) : -1;
  }

  private static long total(StackCounts counts, String... parts) {
    return counts.sorted().entrySet().stream()
        .filter(stack -> Stream.of(parts).allMatch(stack.getKey()::contains))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static void report(StackCounts counts) {
    long paths =
        counts.sorted().entrySet().stream()
            .filter(stack -> pathOf(stack.getKey()) >= 0)
            .mapToLong(Map.Entry::getValue)
            .sum();
    System.out.printf(
        "stacks of %d traces: %d of %d samples have a path%n",
        2 * CONNECTIONS, paths, counts.total());
  }
}
