package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that responses of many megabytes do not block an event loop. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class LargeAnswerTest extends WireTest {
  private static final int BYTES = 4 << 20;
  private static final String LARGE =
      "{\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1},\"text\":\""
          + "x".repeat(BYTES)
          + "\"}";

  @ParameterizedTest
  @ValueSource(strings = {"nixlv2", "shared-storage"})
  void largeResponses_areNotScannedOnAnEventLoop(String connector) throws Exception {
    RawServer engine = engineAnswering(ok(LARGE));
    Wire client = to(before(engine.port(), "--kv-connector=" + connector));
    String body = "{\"cache_hit_threshold\":0.5}";
    String request =
        "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
            + engine.authority()
            + "\r\ncontent-length: "
            + body.length()
            + "\r\n\r\n"
            + body;
    // Warm-up, to load the classes.
    client.send(request).message();
    AtomicInteger seen = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    Thread sampler = Thread.ofPlatform().start(() -> sample(seen, over));

    Wire.Message answer = client.send(request).message();
    over.set(true);
    sampler.join();

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body()).hasSizeGreaterThan(BYTES);
    assertThat(seen).as("samples of JSON on an event loop").hasValueLessThan(3);
  }

  /** Counts samples in which an event loop processes JSON and has run since the last sample. */
  private static void sample(AtomicInteger seen, AtomicBoolean over) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Map<Thread, Long> ran = new HashMap<>();
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains("vert.x-eventloop"))
        .forEach(loop -> ran.put(loop, 0L));
    while (!over.get()) {
      ran.replaceAll(
          (loop, before) -> {
            boolean inJson =
                Arrays.stream(loop.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().startsWith("io.inferspan.pd.json."));
            long now = threads.getThreadCpuTime(loop.threadId());
            if (inJson && now != before) {
              seen.incrementAndGet();
            }
            return now;
          });
    }
  }
}
