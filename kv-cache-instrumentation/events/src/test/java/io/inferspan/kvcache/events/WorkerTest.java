package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.CapturedLog;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.KvBatchObserver;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.zeromq.ZMQ;

class WorkerTest {

  private static final Topic TOPIC = Topic.of("kv@pod@a-model".getBytes(StandardCharsets.UTF_8));

  @Test
  void anError_isCounted_andDoesNotEndTheWorker() throws Exception {
    FakeBlockIndex index = new FakeBlockIndex();
    KvEventCounts counts = new KvEventCounts();
    KvEventOptions options =
        KvEventOptions.builder()
            .observer(
                batch -> {
                  if (batch.pod().equals("first")) {
                    throw new NoClassDefFoundError("an observer's class");
                  }
                  return KvBatchObserver.Observation.NONE;
                })
            .build();
    ZMQ.Context context = ZMQ.context(1);
    IndexWriter writer = new IndexWriter(index, options, counts, new AtomicLong());
    Worker worker =
        new Worker(
            options,
            counts,
            new ReplayPool(context, options, counts),
            writer,
            new KvEventIndexer(BlockKeys.withDefaults(), writer, counts));
    Thread thread = Threads.daemon(worker, "inferspan-kv-events-1");
    try (CapturedLog warnings = CapturedLog.warningsOf(Worker.class)) {
      worker.queue().push(batch("first", worker));
      worker.queue().push(batch("second", worker));
      thread.start();

      Awaited.until("the second pod's batch is applied", () -> index.held("second").size() == 1);
      assertThat(index.held("first")).isEmpty();
      assertThat(counts.get(KvEventCount.FAULTS)).isEqualTo(1);
      assertThat(warnings.count()).isEqualTo(1);
    } finally {
      worker.close();
      thread.join();
      context.close();
    }
  }

  private static Message batch(String pod, Worker worker) {
    byte[] payload = EventBytes.batch(EventBytes.stored(1, null, 100));
    return Message.live(new Stream(pod, "", null, worker), 0, TOPIC, payload, 1);
  }
}
