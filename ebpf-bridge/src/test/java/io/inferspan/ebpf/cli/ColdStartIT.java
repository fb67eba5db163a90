package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.coldstart.CallRecord;
import io.inferspan.ebpf.coldstart.CallRecordFile;
import io.inferspan.ebpf.coldstart.Readiness;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
  private static final List<String> ON_A_TERMINAL =
      List.of(
          PYTHON,
          "-c",
          "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))");
  private static final int LIMIT_SECONDS = 120;
  private static final long CU_INIT = 1000;

  @TempDir private Path directory;

  @BeforeEach
  void needsBpf() {
    TestObjects.assumeBpf();
  }

  @Test
  void python_hasAsManyCallsAsStraceCounts_andPhasesAreChildrenOfItsSpan() throws Exception {
    List<String> command = List.of(PYTHON, "-c", "import fastapi");
    StraceCounts strace = new StraceCounts(directory);
    strace.run(command); // creates every .pyc file
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(StraceCounts.of(records())).isEqualTo(strace.run(command));
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
      assertThat(tool.output()).contains("ended after ", "imports", "openat", "THREADS");
    }
  }

  @Test
  void java_opensAsManyFilesAsStraceCounts() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    // With performance data, it would open the data of other JVMs, such as the tool's.
    List<String> command = List.of(java, "-XX:-UsePerfData", "-version");
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(StraceCounts.of(records()))
          .containsEntry(257L, new StraceCounts(directory).run(command).get(257L));
      assertThat(records().stream().map(CallRecord::tid).distinct()).hasSizeGreaterThan(5);
    }
  }

  @Test
  void firstDriverCall_isRecorded() throws Exception {
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
    int port = freePort();
    List<String> command = nginx(port);
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command, "--stop", "--ready-url", url(port))) {
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

  /** Both count the same run, because workers wake up at random. */
  @Test
  void nginxAndItsWorkers_haveAsManyCallsAsStraceCountsInTheSameRun() throws Exception {
    int port = freePort();
    StraceCounts strace = new StraceCounts(directory);
    List<String> command = strace.around(nginx(port));
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command)) {
      awaitAnswer(port, tool);
      long master = Long.parseLong(Files.readString(directory.resolve("nginx.pid")).strip());
      ProcessHandle.of(master).orElseThrow().destroy();
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      SpanRecord root = only(receiver.spans(), ROOT);
      String tracer = String.valueOf(root.attribute("process.pid"));
      assertThat(StraceCounts.ofTraced(records(), Long.parseLong(tracer)))
          .isEqualTo(strace.counted());
    }
  }

  private static void awaitAnswer(int port, ToolProcess tool) throws IOException {
    Readiness readiness = new Readiness();
    ProcessHandle.of(tool.pid()).ifPresent(readiness::whenEnded);
    readiness.whenAnswering(URI.create(url(port)).toURL());
    assertThat(readiness.ready().join().cause()).as(tool.output()).isEqualTo(Readiness.Cause.URL);
  }

  @Test
  void runningProcess_isFollowed_andATerminalShowsTheProgress() throws Exception {
    int port = freePort();
    Path go = directory.resolve("go");
    String server =
        """
        import os, sys, time
        while not os.path.exists(sys.argv[2]):
            time.sleep(0.01)
        import http.server
        handler = http.server.SimpleHTTPRequestHandler
        http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()
        """;
    Process process =
        new ProcessBuilder(PYTHON, "-c", server, Integer.toString(port), go.toString())
            .directory(directory.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String pid = Long.toString(process.pid());
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool =
            ToolProcess.start(
                directory,
                Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint(), "TERM", "xterm"),
                ON_A_TERMINAL,
                words(List.of("--pid", pid, "--ready-url", url(port))))) {
      tool.awaitOutput(" events");
      Files.writeString(go, "");
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(tool.output()).containsPattern("[0-9.]+ s: [0-9,]+ events");
      SpanRecord root = only(receiver.spans(), ROOT);
      assertThat(root.attribute("process.pid")).isEqualTo(process.pid());
      assertThat(root.attribute("llm_d.cold_start.ready")).isEqualTo("url");
      assertThat(only(receiver.spans(), ROOT + ".imports").parentSpanId()).isEqualTo(root.spanId());
      assertThat(process.isAlive()).as("the server still runs").isTrue();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void lineOfTheOutput_meansReady_withADroppedPageCacheAndCallsOverTime() throws Exception {
    String script =
        "import json; print('weights loaded', flush=True); import time; time.sleep(600)";
    List<String> command = List.of(PYTHON, "-c", script);
    long dropped = droppedCaches();
    String[] options = {
      "--ready-log", "weights [a-z]+ed$", "--stop", "--drop-caches", "--bucket-ms", "100"
    };
    try (OtlpReceiver receiver = OtlpReceiver.start();
        ToolProcess tool = coldStart(receiver, command, options)) {
      assertThat(tool.exitStatus()).as(tool.output()).isZero();

      assertThat(tool.output())
          .contains(
              "dropping the page cache of this machine, which slows down other programs for a while",
              "weights loaded\n",
              "ready (its output matched) after ",
              "CALLS THAT BEGAN IN EACH 100 ms");
      assertThat(only(receiver.spans(), ROOT).attribute("llm_d.cold_start.ready")).isEqualTo("log");
      assertThat(droppedCaches()).isGreaterThan(dropped);
    }
  }

  private static long droppedCaches() throws IOException {
    return Files.readAllLines(Path.of("/proc/vmstat")).stream()
        .filter(line -> line.startsWith("drop_pagecache "))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
        .sum();
  }

  @Test
  void simulatedServer_isReportedAsInItsOwnLog() throws Exception {
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
      long own = ProcessHandle.current().pid();
      assertThat(nice(tool.pid())).as("the niceness of the tool").isEqualTo(19);
      assertThat(children).extracting(child -> nice(child.pid())).containsOnly(nice(own));

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

  private String[] words(List<String> options) {
    List<String> words = new ArrayList<>(List.of("coldstart", "--out", file().toString()));
    words.addAll(options);
    return words.toArray(String[]::new);
  }

  private ToolProcess coldStart(OtlpReceiver receiver, List<String> command, String... options) {
    List<String> words = new ArrayList<>(Arrays.asList(options));
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
        words(words));
  }

  private Path file() {
    return directory.resolve("calls.jsonl");
  }

  private List<CallRecord> records() throws IOException {
    try (InputStream in = Files.newInputStream(file())) {
      return CallRecordFile.read(in);
    }
  }

  private static SpanRecord only(List<SpanRecord> spans, String name) {
    List<SpanRecord> found = spans.stream().filter(span -> span.name().equals(name)).toList();
    assertThat(found).as(name).hasSize(1);
    return found.getFirst();
  }

  private List<String> nginx(int port) throws IOException {
    assumeTrue(Files.isExecutable(Path.of(NGINX)), "needs nginx: apt-get install nginx-light");
    return List.of(NGINX, "-e", "/dev/null", "-c", nginxConfig(port).toString());
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

  private static String url(int port) {
    return "http://127.0.0.1:" + port + "/";
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
