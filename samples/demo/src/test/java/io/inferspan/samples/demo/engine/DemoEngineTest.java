package io.inferspan.samples.demo.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.events.EventSource;
import io.inferspan.kvcache.events.KvEventOptions;
import io.inferspan.kvcache.events.KvEventSubscriber;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.samples.prefixrouting.WordTokens;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the engine over real sockets: HTTP, and ZMQ to an index like that of a gateway. */
class DemoEngineTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final String MESSAGES =
      "[{\"role\":\"user\",\"content\":\"" + "a word or two ".repeat(40).strip() + "\"}]";
  private static final int BLOCKS = 161 / PrefixCache.BLOCK_TOKENS;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final CountDownLatch subscribed = new CountDownLatch(1);
  private final RecordingDevice device = new RecordingDevice();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private KvPublisher events;
  private DemoEngine engine;

  /** A device that records its calling threads and the prompt tokens. */
  private static final class RecordingDevice implements Device {
    private final List<Integer> prefills = new CopyOnWriteArrayList<>();
    private final List<Thread> callers = new CopyOnWriteArrayList<>();

    @Override
    public void prefill(int tokens, long millis) {
      prefills.add(tokens);
      callers.add(Thread.currentThread());
    }

    @Override
    public void token() {
      callers.add(Thread.currentThread());
    }
  }

  @BeforeEach
  void start() throws IOException {
    events = new KvPublisher(freePort(), "kv@pod@demo", subscribed::countDown);
    engine = new DemoEngine(0, tracing.openTelemetry(), events, device);
  }

  @AfterEach
  void stop() throws InterruptedException {
    client.close();
    engine.close();
    events.close();
  }

  @Test
  void computedPrompt_isCachedForTheNextRequest() throws Exception {
    assertThat(cachedTokens(ask("", Behaviour.NORMAL))).isZero();
    assertThat(cachedTokens(ask("", Behaviour.NORMAL))).isEqualTo(BLOCKS * 16);

    assertThat(device.prefills).containsExactly(161, 161 - BLOCKS * 16);
  }

  @Test
  void cachedBlocks_arePublishedToSubscribers() throws Exception {
    BlockKeys keys = BlockKeys.withDefaults();
    long[] asked = keys.of("demo", WordTokens.of(MESSAGES.getBytes(StandardCharsets.UTF_8)));
    try (MemoryBlockIndex index = MemoryBlockIndex.withDefaults();
        KvEventSubscriber subscriber =
            KvEventSubscriber.start(index, keys, KvEventOptions.withDefaults())) {
      subscriber.sourceAdded(new EventSource("pod:1", events.endpoint(), null));
      assertThat(subscribed.await(10, TimeUnit.SECONDS)).isTrue();

      ask("", Behaviour.NORMAL);

      assertThat(asked).hasSize(BLOCKS);
      await(() -> found(index, asked) == BLOCKS);
    }
  }

  @Test
  void transferredPrompt_isNotComputedAgain_butCached() throws Exception {
    ask("\"kv_transfer_params\":{\"do_remote_prefill\":true},", Behaviour.SLOW_PREFILL);

    assertThat(device.prefills).containsExactly(0);
    assertThat(cachedTokens(ask("", Behaviour.NORMAL))).isEqualTo(BLOCKS * 16);
  }

  @Test
  void failingPrefill_failsPrefillOnly_andLeavesNothingInTheCache() throws Exception {
    String prefill = "\"kv_transfer_params\":{\"do_remote_decode\":true},";

    assertThat(ask(prefill, Behaviour.FAILING_PREFILL).statusCode()).isEqualTo(500);
    HttpResponse<String> whole = ask("", Behaviour.FAILING_PREFILL);
    assertThat(whole.statusCode()).isEqualTo(200);
    assertThat(cachedTokens(whole)).isZero();
  }

  @Test
  void slowPrefill_takesSeveralTimesAsLong() throws Exception {
    ask("", Behaviour.SLOW_PREFILL);

    assertThat((Double) span().attribute("gen_ai.latency.time_in_model_prefill"))
        .isGreaterThan(6 * (0.006 + 161 * 0.00015) - 0.002);
  }

  @Test
  void oneThread_readsTheRequestCallsTheDeviceAndWritesTheAnswer() throws Exception {
    HttpResponse<InputStream> answer =
        client.send(request("\"stream\":true,", Behaviour.NORMAL), BodyHandlers.ofInputStream());
    try (InputStream in = answer.body()) {
      assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).contains("[DONE]");
    }

    assertThat(device.callers).hasSizeGreaterThan(20);
    assertThat(Set.copyOf(device.callers)).hasSize(1);
    assertThat(device.callers.get(0).isVirtual()).isFalse();
  }

  @Test
  void span_continuesTheTraceOfTheRequest() throws Exception {
    ask("", Behaviour.NORMAL);

    assertThat(span().traceId()).isEqualTo(PARENT.substring(3, 35));
    assertThat(span().parentSpanId()).isEqualTo(PARENT.substring(36, 52));
  }

  @Test
  void disconnectedClient_cancelsTheRequest() throws Exception {
    HttpResponse<InputStream> answer =
        client.send(
            request("\"stream\":true,", Behaviour.LONG_ANSWER), BodyHandlers.ofInputStream());
    InputStream in = answer.body();
    assertThat(in.read()).isEqualTo('d');
    assertThat(running()).isEqualTo(1);
    in.close();

    await(() -> running() == 0);
    assertThat(tracing.spans()).isEmpty();
  }

  private SpanRecord span() {
    return tracing.spans().get(0);
  }

  private static int found(MemoryBlockIndex index, long[] keys) {
    BlockHits hits = new BlockHits();
    index.lookup(keys, Set.of(), hits, Context.root());
    return hits.found();
  }

  private int running() {
    try {
      URI uri = URI.create("http://127.0.0.1:" + engine.port() + "/metrics");
      String metrics =
          client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
      return metrics.contains("num_requests_running{engine=\"0\",model_name=\"fake-model\"} 1.0")
          ? 1
          : 0;
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private static long cachedTokens(HttpResponse<String> answer) {
    return new JsonObject(answer.body())
        .getJsonObject("usage")
        .getJsonObject("prompt_tokens_details")
        .getLong("cached_tokens");
  }

  private HttpResponse<String> ask(String members, Behaviour behaviour) throws Exception {
    return client.send(request(members, behaviour), BodyHandlers.ofString());
  }

  private HttpRequest request(String members, Behaviour behaviour) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + engine.port() + "/v1/chat/completions"))
        .header("content-type", "application/json")
        .header("traceparent", PARENT)
        .header(Behaviour.HEADER, behaviour.value())
        .timeout(SOON)
        .POST(
            HttpRequest.BodyPublishers.ofString(
                "{\"model\":\"demo\"," + members + "\"messages\":" + MESSAGES + "}"))
        .build();
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + SOON.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for " + SOON).isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }
}
