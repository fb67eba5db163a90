package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.PythonServer.Call;
import io.inferspan.ebpf.PythonServer.Work;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A Java gateway with the bridge on its class path, an unchanged Python server, and a collector:
 * the server's device and kernel events are under the gateway's span.
 */
class EndToEndIT {

  private static final int REQUESTS = 200;
  private static final int CONNECTIONS = 8;

  /** Tolerance: the test and the bridge read their clocks at different times. */
  private static final long CLOCK_SLACK_NANOS = 100_000;

  /** The gateway's trace and span ids, each with the number of its request. */
  private final Map<String, Integer> sent = new TreeMap<>();

  private List<SpanRecord> spans = List.of();
  private List<Work> work = List.of();
  private List<Call> calls = List.of();

  /** The offset from the monotonic clock to the epoch. */
  private long offsetNanos;

  @Test
  void everyCallOfTheServer_isUnderTheGatewaysSpan() throws Exception {
    serve();

    assertThat(sent).hasSize(REQUESTS);
    assertThat(work).hasSize(REQUESTS);
    assertEveryCallIsUnderItsTrace();
    assertNothingIsUnderAWrongTrace();
    assertFamiliesArePresent();
  }

  private void serve() throws Exception {
    try (OtlpReceiver receiver = OtlpReceiver.start();
        PythonServer server = PythonServer.start(Map.of("FAKE_CUDA_KERNEL", "200us"));
        JavaChild gateway =
            JavaChild.start(
                GatewayProcess.class,
                environment(receiver),
                "http://127.0.0.1:" + server.port() + "/")) {
      ask(Integer.parseInt(gateway.line()));
      offsetNanos = TestKit.epochOffsetNanos();
      gateway.send("end");
      assertThat(gateway.line()).isEqualTo("closed");
      spans =
          receiver.spans().stream()
              .filter(span -> "http".equals(span.attribute("inferspan.ebpf.source")))
              .filter(
                  span -> span.attribute("process.pid") instanceof Long pid && pid == server.pid())
              .toList();
      work = server.work();
      calls = server.calls();
    }
  }

  private static Map<String, String> environment(OtlpReceiver receiver) {
    return Map.of(
        "OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint(),
        "OTEL_TRACES_SAMPLER", "always_on",
        "OTEL_BSP_MAX_QUEUE_SIZE", "65536",
        "INFERSPAN_EBPF_SINGLE_FROM", "1s");
  }

  private void ask(int port) throws Exception {
    try (ExecutorService clients = Executors.newFixedThreadPool(CONNECTIONS)) {
      List<Future<Map<String, Integer>>> done = new ArrayList<>();
      for (int client = 0; client < CONNECTIONS; client++) {
        int first = client;
        done.add(clients.submit(() -> ask(port, first)));
      }
      for (Future<Map<String, Integer>> each : done) {
        sent.putAll(each.get());
      }
    }
  }

  /** Sends every eighth request, on a separate connection. */
  private static Map<String, Integer> ask(int port, int first) throws Exception {
    Map<String, Integer> sent = new HashMap<>();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (int number = first; number < REQUESTS; number += CONNECTIONS) {
        String path = number % 2 == 0 ? "/infer" : "/burst/" + (number + 1);
        HttpRequest request =
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
        sent.put(parent(client.send(request, BodyHandlers.ofString()).body()), number);
      }
    }
    return sent;
  }

  private void assertEveryCallIsUnderItsTrace() throws IOException {
    Map<String, Long> wanted = new TreeMap<>();
    Map<String, String> kinds = kindsOfFunctions();
    for (Call call : calls) {
      String name = kinds.get(call.function());
      if (name != null) {
        wanted.merge(parent(doneFor(call).traceparent()) + " " + name, 1L, Long::sum);
      }
    }
    Map<String, Long> seen = new TreeMap<>();
    for (SpanRecord span : spans) {
      if (span.name().startsWith("cuda.")) {
        seen.merge(parent(span) + " " + SpanCatalog.unfolded(span.name()), count(span), Long::sum);
      }
    }
    assertThat(calls).hasSizeGreaterThan(REQUESTS * 8);
    assertThat(seen).isEqualTo(wanted);
    System.out.printf(
        "end to end: %d calls of %d requests, all under their traces, in %d spans%n",
        wanted.values().stream().mapToLong(Long::longValue).sum(), REQUESTS, spans.size());
  }

  private Work doneFor(Call call) {
    return work.stream()
        .filter(one -> one.covers(call.tid(), call.entryNanos(), call.exitNanos()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no request for " + call));
  }

  /** Checks launches by the number of their request, and other spans by their time. */
  private void assertNothingIsUnderAWrongTrace() {
    Map<String, Long> blocks = new HashMap<>();
    for (SpanRecord span : spans) {
      assertThat(sent).as("parent of %s", span).containsKey(parent(span));
      if (SpanCatalog.unfolded(span.name()).equals("cuda.launch")) {
        blocks.merge(parent(span), (Long) span.attribute("inferspan.ebpf.cuda.blocks"), Long::sum);
      }
      assertWorkedForAtThatTime(span);
    }
    sent.forEach(
        (parent, number) ->
            assertThat(blocks)
                .containsEntry(parent, number % 2 == 0 ? 1L + 2 + 3 : 20L * (number + 1)));
  }

  /**
   * A system call during a request belongs to it; one between two requests may belong to either.
   */
  private void assertWorkedForAtThatTime(SpanRecord span) {
    if (!(span.attribute("thread.id") instanceof Long tid)) {
      return;
    }
    long start = span.startEpochNanos() - offsetNanos;
    long end = span.endEpochNanos() - offsetNanos;
    work.stream()
        .filter(one -> one.covers(tid, start - CLOCK_SLACK_NANOS, end + CLOCK_SLACK_NANOS))
        .forEach(one -> assertThat(parent(span)).isEqualTo(parent(one.traceparent())));
  }

  private void assertFamiliesArePresent() {
    Map<String, Long> families =
        spans.stream()
            .collect(
                Collectors.groupingBy(
                    span -> span.name().split("\\.", 2)[0], Collectors.counting()));
    assertThat(families).containsKeys("cuda", "syscall", "sched");
    assertThat(spans.stream().map(SpanRecord::name).collect(Collectors.toSet()))
        .contains("cuda.launch", "cuda.memcpy_h2d", "cuda.memcpy_d2h", "cuda.stream_sync")
        .contains("syscall.send");
  }

  private static long count(SpanRecord span) {
    return span.attribute("inferspan.ebpf.count") instanceof Long count ? count : 1;
  }

  private static String parent(SpanRecord span) {
    return span.traceId() + "-" + span.parentSpanId();
  }

  /** Returns the ids of a traceparent, without version and flags. */
  private static String parent(String traceparent) {
    return traceparent.substring(3, traceparent.length() - 3);
  }

  /** Returns the span names of libcuda's functions, from the table of probes. */
  private static Map<String, String> kindsOfFunctions() throws IOException {
    try (InputStream table =
        EbpfBridge.class.getResourceAsStream("/io/inferspan/ebpf/bpf/calls.tsv")) {
      return new String(table.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.split("\t"))
          .filter(row -> row[0].equals("libcuda"))
          .collect(Collectors.toMap(row -> row[1], row -> kind(row[2])));
    }
  }

  private static String kind(String cookie) {
    int number = (int) (Long.decode(cookie) & 0xffff);
    return "cuda." + Objects.requireNonNull(Kind.of(number)).call();
  }
}
