package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.CapturedLog;
import io.inferspan.kvcache.block.BlockKeys;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.ZMQ;

class ReceiverTest {

  private final KvEventOptions options = KvEventOptions.withDefaults();
  private final KvEventCounts counts = new KvEventCounts();
  private final ZMQ.Context context = ZMQ.context(1);
  private final Worker worker = worker();

  private Worker worker() {
    IndexWriter writer = new IndexWriter(new FakeBlockIndex(), options, counts, new AtomicLong());
    return new Worker(
        options,
        counts,
        new ReplayPool(context, options, counts),
        writer,
        new KvEventIndexer(BlockKeys.withDefaults(), writer, counts));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFault_isCounted_andDoesNotEndTheIntake(boolean error) throws Exception {
    AtomicInteger calls = new AtomicInteger();
    Receiver receiver =
        new Receiver(
            context,
            options,
            counts,
            pod -> {
              if (calls.incrementAndGet() == 2) {
                if (error) {
                  throw new NoClassDefFoundError("once");
                }
                throw new IllegalStateException("once");
              }
              return worker;
            });
    int port = LibzmqPublisher.freePort();
    Thread receiving = Threads.daemon(receiver, "inferspan-kv-receive");
    try (JeromqPublisher publisher = JeromqPublisher.boundTo(port, "kv@any@a-model");
        CapturedLog warnings = CapturedLog.warningsOf(Receiver.class)) {
      receiving.start();
      receiver.add(new EventSource("pod", "tcp://127.0.0.1:" + port, null));
      publisher.subscribed().send(0, EventBytes.stored(1, null, 100));

      Awaited.until("the batch is handed on", () -> worker.queue().batches() == 1);
      assertThat(counts.get(KvEventCount.FAULTS)).isEqualTo(1);
      assertThat(warnings.count()).isEqualTo(1);
    } finally {
      receiver.close();
      receiving.join();
      context.close();
    }
  }
}
