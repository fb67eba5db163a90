package io.inferspan.samples.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.samples.prefixrouting.WordTokens;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.FakeEngine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** A gateway that follows the engines' KV events over ZMQ. */
class KvEventsTest {

  private static final int BLOCK_TOKENS = 16;
  private static final int SOON_SECONDS = 10;
  private static final int CONSECUTIVE = 32;
  private static final String MESSAGES =
      "[{\"role\":\"user\",\"content\":\"" + "one two three ".repeat(40).strip() + "\"}]";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void prompt_goesToTheEngineThatPublishedItsBlocks() throws Exception {
    try (ZContext context = new ZContext();
        FakeEngine cold = FakeEngine.start();
        FakeEngine warm = FakeEngine.start()) {
      ZMQ.Socket ofCold = context.createSocket(SocketType.XPUB);
      ZMQ.Socket ofWarm = context.createSocket(SocketType.XPUB);
      int coldPort = ofCold.bindToRandomPort("tcp://127.0.0.1");
      int warmPort = ofWarm.bindToRandomPort("tcp://127.0.0.1");
      try (RunningGateway gateway =
          RunningGateway.start(
              builder -> builder.telemetry(Telemetry.using(tracing.openTelemetry())),
              "--decode=" + cold.authority() + "," + warm.authority(),
              "--kv-events=127.0.0.1:" + coldPort + ",127.0.0.1:" + warmPort)) {
        assertThat(ofWarm.recv()).startsWith((byte) 1);
        ofWarm.sendMore("kv@unknown@m");
        ofWarm.sendMore(new byte[8]);
        ofWarm.send(stored());

        // There is no signal that the index is updated; before that, the choice is random.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SOON_SECONDS);
        while (warm.requestCount() < CONSECUTIVE && System.nanoTime() < end) {
          assertThat(gateway.chat(body()).statusCode()).isEqualTo(200);
          if (cold.requestCount() > 0) {
            warm.clearRequests();
            cold.clearRequests();
          }
        }
        assertThat(warm.requestCount()).isEqualTo(CONSECUTIVE);
      }
    }
    assertThat(tracing.spans())
        .anyMatch(span -> span.name().equals(KvCacheSpans.GET_SCORES.name(SpanNaming.PROPOSAL)));
  }

  private static String body() {
    return "{\"model\":\"m\",\"messages\":" + MESSAGES + "}";
  }

  private static byte[] stored() throws IOException {
    int[] tokens = WordTokens.of(MESSAGES.getBytes(StandardCharsets.UTF_8));
    int blocks = tokens.length / BLOCK_TOKENS;
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2).packDouble(1.5).packArrayHeader(1);
      out.packArrayHeader(5).packString("BlockStored").packArrayHeader(blocks);
      for (int i = 1; i <= blocks; i++) {
        out.packLong(i);
      }
      out.packNil().packArrayHeader(blocks * BLOCK_TOKENS);
      for (int i = 0; i < blocks * BLOCK_TOKENS; i++) {
        out.packInt(tokens[i]);
      }
      out.packInt(BLOCK_TOKENS);
      return out.toByteArray();
    }
  }
}
