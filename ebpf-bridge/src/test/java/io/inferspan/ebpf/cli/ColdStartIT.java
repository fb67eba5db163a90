package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.coldstart.CallRecord;
import io.inferspan.ebpf.coldstart.CallRecordFile;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts of real programs. */
class ColdStartIT {

  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String PARENT = "b7ad6b7169203331";
  private static final String ROOT = "llm_d.model_server.cold_start";
  private static final String PYTHON = "/usr/bin/python3";
  private static final String NGINX = "/usr/sbin/nginx";
  private static final int LIMIT_SECONDS = 120;
  private static final long CU_INIT = 1000;

  /** As strace calls them, with the number that files have for all calls of the kind. */
  private static final Map<String, Long> COUNTED =
      Map.of("read", 0L, "pread64", 0L, "openat", 257L, "mmap", 9L, "close", 3L);

  @TempDir private Path directory;

  @BeforeEach
  void needsBpf() {
    TestObjects.assumeBpf();
  }

  @Test
  void python_hasTheCallsThatStraceCounts_andItsPhasesAreChildrenOfItsSpan() throws Exception {
    List<String> command = List.of(PYTHON, "-c", "import asyncio, email, sqlite3");
    straced(command); // so that every .pyc is there
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(counts(records())).isEqualTo(straced(command));
      SpanRecord root = only(receiver.spans(), ROOT);
      assertThat(root.traceId()).isEqualTo(TRACE);
      assertThat(root.parentSpanId()).isEqualTo(PARENT);
      assertThat(root.attribute("llm_d.cold_start.ready")).isEqualTo("exit");
      SpanRecord imports = only(receiver.spans(), ROOT + ".imports");
      assertThat(imports.parentSpanId()).isEqualTo(root.spanId());
      assertThat((Long) imports.attribute("inferspan.ebpf.count")).isGreaterThan(50);
      assertThat(only(receiver.spans(), ROOT + ".process_start").parentSpanId())
          .isEqualTo(root.spanId());
      assertThat(receiver.spans()).extracting(SpanRecord::traceId).containsOnly(TRACE);
      assertThat(tool.output()).contains("ended after ", "imports", "openat", "MAIN THREAD OF");
    }
  }

  @Test
  void java_hasTheFilesThatStraceCounts() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    // With the data it would open those of each other JVM of the machine, such as the tool's.
    List<String> command = List.of(java, "-XX:-UsePerfData", "-version");
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(counts(records())).containsEntry(257L, straced(command).get(257L));
      assertThat(records().stream().map(CallRecord::tid).distinct()).hasSizeGreaterThan(5);
    }
  }

  @Test
  void firstCallOfTheDriver_isSeen() throws Exception {
    TestObjects.buildLoads(directory);
    String script = "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)";
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool =
            ToolProcess.start(
                directory,
                Map.of(
                    "OTEL_EXPORTER_OTLP_ENDPOINT",
                    receiver.endpoint(),
                    "LD_LIBRARY_PATH",
                    directory.toString()),
                List.of(),
                "coldstart",
                "--out",
                file().toString(),
                "--",
                PYTHON,
                "-c",
                script)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(records()).extracting(CallRecord::call).contains(CU_INIT);
    }
  }

  @Test
  void nginx_isReadyWhenItsUrlAnswers() throws Exception {
    assumeTrue(Files.isExecutable(Path.of(NGINX)), "needs nginx: apt-get install nginx-light");
    int port = freePort();
    Path config = nginxConfig(port);
    String url = "http://127.0.0.1:" + port + "/";
    List<String> command = List.of(NGINX, "-e", "/dev/null", "-c", config.toString());
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command, "--stop", "--ready-url", url)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      SpanRecord root = only(receiver.spans(), ROOT);
      assertThat(root.attribute("llm_d.cold_start.ready")).isEqualTo("url");
      assertThat(only(receiver.spans(), ROOT + ".listen").parentSpanId()).isEqualTo(root.spanId());
      assertThat(tool.output()).contains("3 processes, first listening at ");
      List<CallRecord> records = records();
      assertThat(records)
          .extracting(CallRecord::pid)
          .contains((Long) root.attribute("process.pid"));
    }
  }

  @Test
  void simulatedServer_isReportedAsItTellsItself() throws Exception {
    TestObjects.assumeCompiler();
    List<String> words = new ArrayList<>(List.of("../bpf/testkit/coldstart", "--"));
    words.addAll(ToolProcess.command());
    Path output = directory.resolve("output");
    Process check =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(output.toFile()).start();

    assertThat(check.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    System.out.println(Files.readString(output));
    assertThat(check.exitValue()).as(Files.readString(output)).isZero();
  }

  @Test
  void interruptedStart_isStillWritten_andTheCommandEnds() throws Exception {
    String script =
        "open('/etc/hostname').read(); print('opened', flush=True); import time; time.sleep(60)";
    List<String> command = List.of(PYTHON, "-c", script);
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command, "--ready-log", "never to be seen")) {
      tool.awaitOutput("opened");
      List<ProcessHandle> children = ProcessHandle.of(tool.pid()).orElseThrow().children().toList();
      assertThat(nice(tool.pid())).as("that it gives way to what starts").isEqualTo(19);
      assertThat(children).extracting(child -> nice(child.pid())).containsOnly(0);

      assertThat(tool.terminate().exitStatus()).isNotZero();

      assertThat(tool.output()).contains("interrupted after ");
      assertThat(records()).isNotEmpty();
      assertThat(only(receiver.spans(), ROOT).attribute("llm_d.cold_start.ready"))
          .isEqualTo("interrupted");
      for (ProcessHandle child : children) {
        child.onExit().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  private static int nice(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[16]);
    } catch (IOException ended) {
      throw new UncheckedIOException(ended);
    }
  }

  private ToolProcess coldStart(OtlpReceiver receiver, List<String> command, String... options) {
    List<String> words = new ArrayList<>(List.of("coldstart", "--out", file().toString()));
    words.addAll(Arrays.asList(options));
    words.add("--");
    words.addAll(command);
    return ToolProcess.start(
        directory,
        Map.of(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            receiver.endpoint(),
            "TRACEPARENT",
            "00-" + TRACE + "-" + PARENT + "-01"),
        List.of(),
        words.toArray(String[]::new));
  }

  private Path file() {
    return directory.resolve("calls.jsonl");
  }

  private List<CallRecord> records() throws IOException {
    try (InputStream in = Files.newInputStream(file())) {
      return CallRecordFile.read(in);
    }
  }

  private static Map<Long, Long> counts(List<CallRecord> records) {
    Map<Long, Long> counts = new TreeMap<>();
    records.stream()
        .filter(record -> !record.exit() && COUNTED.containsValue(record.call()))
        .forEach(record -> counts.merge(record.call(), 1L, Long::sum));
    return counts;
  }

  /** What {@code strace -f -c} counts of the same command. */
  private Map<Long, Long> straced(List<String> command) throws IOException, InterruptedException {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/strace")), "needs strace: apt-get install strace");
    Path table = directory.resolve("strace");
    List<String> words =
        new ArrayList<>(List.of("/usr/bin/strace", "-f", "-c", "-o", table.toString()));
    words.addAll(command);
    Process strace =
        new ProcessBuilder(words)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(strace.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    Map<Long, Long> counts = new TreeMap<>();
    for (String line : Files.readAllLines(table)) {
      String[] fields = line.strip().split(" +", -1);
      Long call = COUNTED.get(fields[fields.length - 1]);
      if (call != null) {
        counts.merge(call, Long.valueOf(fields[3]), Long::sum);
      }
    }
    return counts;
  }

  private static SpanRecord only(List<SpanRecord> spans, String name) {
    List<SpanRecord> found = spans.stream().filter(span -> span.name().equals(name)).toList();
    assertThat(found).as(name).hasSize(1);
    return found.getFirst();
  }

  private Path nginxConfig(int port) throws IOException {
    return Files.writeString(
        directory.resolve("nginx.conf"),
        """
        daemon off;
        worker_processes 2;
        pid %1$s/nginx.pid;
        events {}
        http {
          access_log off;
          client_body_temp_path %1$s/body;
          proxy_temp_path %1$s/proxy;
          fastcgi_temp_path %1$s/fastcgi;
          uwsgi_temp_path %1$s/uwsgi;
          scgi_temp_path %1$s/scgi;
          server { listen 127.0.0.1:%2$d; return 200; }
        }
        """
            .formatted(directory, port));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
