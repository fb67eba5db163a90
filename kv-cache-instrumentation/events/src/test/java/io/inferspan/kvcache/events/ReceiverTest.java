package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockKeys;
import java.util.concurrent.atomic.AtomicBoolean;
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
    IndexKeeper keeper = new IndexKeeper(new FakeBlockIndex(), options, counts, new AtomicLong());
    return new Worker(
        options,
        counts,
        new ReplayCalls(context, options, counts),
        keeper,
        new KvEventIndexer(BlockKeys.withDefaults(), keeper, counts));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFault_isCounted_andDoesNotEndTheIntake(boolean error) throws Exception {
    AtomicBoolean fails = new AtomicBoolean(true);
    Receiver receiver =
        new Receiver(
            context,
            options,
            counts,
            stream -> {
              if (fails.getAndSet(false)) {
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
        LoggedWarnings warnings = new LoggedWarnings(Receiver.class)) {
      receiving.start();
      receiver.add(new EventSource("pod", "tcp://127.0.0.1:" + port, null));
      publisher.subscribed().send(0, EventBytes.stored(1, null, 100));

      Awaited.until("the batch is handed on", () -> worker.queued() == 1);
      assertThat(counts.faults()).isEqualTo(1);
      assertThat(warnings.count()).isEqualTo(1);
    } finally {
      receiver.close();
      receiving.join();
      context.close();
    }
  }
}
