package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockKeys;
import org.junit.jupiter.api.Test;

/** Engines that connect to us, of which more come than are followed at once. */
class BoundEndpointTest {

  private final FakeBlockIndex index = new FakeBlockIndex();

  @Test
  void ofTooManyPods_theQuietestLeaves_andMayComeBack() {
    int port = LibzmqPublisher.freePort();
    KvEventOptions options =
        KvEventOptions.builder().zmqEndpoint("tcp://127.0.0.1:" + port).workers(1).build();
    try (KvEventSubscriber subscriber =
            KvEventSubscriber.start(index, BlockKeys.withDefaults(), options);
        JeromqPublisher publisher = JeromqPublisher.connectedTo(port, "")) {
      publisher.subscribed();
      for (int i = 0; i < Lane.MOST_KNOWN; i++) {
        publisher.sendOn(topic("pod-" + i), 0, EventBytes.stored(1, null, 100));
      }
      publisher.sendOn(topic("pod-0"), 1, EventBytes.stored(2, null, 200));
      publisher.sendOn(topic("new"), 0, EventBytes.stored(1, null, 100));

      Awaited.until("the new one is followed", () -> index.held("new").size() == 1);
      assertThat(index.held("pod-1")).isEmpty();
      assertThat(index.held("pod-0")).hasSize(2);
      assertThat(index.held("pod-2")).hasSize(1);
      assertThat(subscriber.counts().invalidations()).isEqualTo(1);
      assertThat(subscriber.counts().badFrames()).isZero();

      publisher.sendOn(topic("pod-1"), 1, EventBytes.stored(2, null, 200));
      Awaited.until("it has come back", () -> index.held("pod-1").size() == 1);
      assertThat(index.held("pod-2")).isEmpty();
    }
  }

  private static String topic(String pod) {
    return "kv@" + pod + "@a-model";
  }
}
