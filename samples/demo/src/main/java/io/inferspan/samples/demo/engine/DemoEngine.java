package io.inferspan.samples.demo.engine;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.inferspan.testing.engine.EngineRequest;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An engine with one thread per request. The thread forwards the request to the test kit's fake
 * engine, which determines the timing. Meanwhile, the thread calls the device; then it writes the
 * response.
 *
 * <p>Because one thread serves the whole request, the eBPF bridge can attribute its calls to the
 * request. The fake engine runs on an event loop, where this is not possible.
 */
final class DemoEngine implements AutoCloseable {

  private static final String JOB_HEADER = "x-demo-job";
  private static final List<String> FORWARDED_HEADERS =
      List.of("content-type", "traceparent", "tracestate", "x-request-id");
  private static final int CACHE_BLOCKS = 2_048;
  private static final int BUFFER_BYTES = 16 << 10;

  static {
    // Otherwise the kernel delays small writes, and tokens arrive every 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    // With keep-alive, the request's thread would start a thread that closes idle connections, and
    // the eBPF bridge would attribute that thread's work to the request.
    System.setProperty("http.keepAlive", "false");
  }

  private final PrefixCache cache = new PrefixCache(CACHE_BLOCKS);
  private final Map<String, Job> jobs = new ConcurrentHashMap<>();
  private final AtomicLong jobIds = new AtomicLong();
  private final FakeEngine engine;
  private final KvPublisher events;
  private final Device device;
  private final HttpServer server;

  /** Creates an engine that listens on a loopback port; 0 picks a free one. */
  DemoEngine(int port, OpenTelemetry telemetry, KvPublisher events, Device device)
      throws IOException {
    this.events = events;
    this.device = device;
    engine = FakeEngine.builder().openTelemetry(telemetry).scripts(this::script).start();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    // The eBPF bridge sees the end of the thread as the end of the request.
    server.setExecutor(request -> Thread.ofPlatform().daemon().name("request").start(request));
    server.createContext("/", this::handle);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  private EngineScript script(EngineRequest request) {
    String jobId = request.header(JOB_HEADER);
    Job job = jobId == null ? null : jobs.get(jobId);
    return job == null ? EngineScript.normal() : job.script();
  }

  private void handle(HttpExchange exchange) throws IOException {
    HttpURLConnection call = null;
    String jobId = Long.toString(jobIds.incrementAndGet());
    try (exchange) {
      call = call(exchange, jobId);
      serve(exchange, call, jobId);
    } catch (IOException e) {
      // The client has disconnected: cancel the fake engine's request, too.
      if (call != null) {
        call.disconnect();
      }
      throw e;
    } finally {
      jobs.remove(jobId);
    }
  }

  private HttpURLConnection call(HttpExchange exchange, String jobId) throws IOException {
    String target = exchange.getRequestURI().toString();
    HttpURLConnection call = (HttpURLConnection) engine.uri(target).toURL().openConnection();
    call.setRequestMethod(exchange.getRequestMethod());
    Headers headers = exchange.getRequestHeaders();
    for (String name : FORWARDED_HEADERS) {
      String value = headers.getFirst(name);
      if (value != null) {
        call.setRequestProperty(name, value);
      }
    }
    call.setRequestProperty(JOB_HEADER, jobId);
    return call;
  }

  private void serve(HttpExchange exchange, HttpURLConnection call, String jobId)
      throws IOException {
    if (!exchange.getRequestMethod().equals("POST")) {
      relay(exchange, call, null);
      return;
    }
    byte[] body = exchange.getRequestBody().readAllBytes();
    Behaviour behaviour = Behaviour.of(exchange.getRequestHeaders().getFirst(Behaviour.HEADER));
    Job job = Job.of(body, behaviour, cache);
    jobs.put(jobId, job);
    call.setDoOutput(true);
    call.setFixedLengthStreamingMode(body.length);
    try (OutputStream out = call.getOutputStream()) {
      out.write(body);
    }
    device.prefill(job.computed(), job.deviceMillis());
    relay(exchange, call, job);
  }

  private void relay(HttpExchange exchange, HttpURLConnection call, @Nullable Job job)
      throws IOException {
    int status = call.getResponseCode();
    String type = call.getContentType();
    if (type != null) {
      exchange.getResponseHeaders().set("content-type", type);
    }
    // In this API, 0 means an unknown length, and -1 no body.
    long length = call.getContentLengthLong();
    exchange.sendResponseHeaders(status, length == 0 ? -1 : Math.max(0, length));
    try (InputStream in = status < 400 ? call.getInputStream() : call.getErrorStream()) {
      if (in != null) {
        forward(in, exchange.getResponseBody(), status == 200 ? job : null);
      }
    }
  }

  /**
   * Forwards the response chunk by chunk, the first one after the device has computed the prompt.
   */
  private void forward(InputStream in, OutputStream out, @Nullable Job job) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    boolean first = true;
    for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
      if (job != null && first) {
        store(job);
      } else if (job != null) {
        device.token();
      }
      first = false;
      out.write(buffer, 0, length);
      out.flush();
    }
  }

  private void store(Job job) {
    PrefixCache.Change change = cache.store(job.hashes());
    if (change.firstStored() < job.hashes().length || !change.evicted().isEmpty()) {
      events.publish(KvEvents.batch(change, job.hashes(), job.tokens()));
    }
  }

  @Override
  public void close() {
    server.stop(0);
    engine.close();
  }
}
