package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Engines that connect to us, of which more come than are followed at once. */
class BoundEndpointTest {

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  private final FakeBlockIndex index = new FakeBlockIndex();

  @Test
  void withTooManyPods_theLeastActiveLeaves_andMayReturn() {
    int port = LibzmqPublisher.freePort();
    KvEventOptions options =
        KvEventOptions.builder().zmqEndpoint("tcp://127.0.0.1:" + port).workers(1).build();
    try (KvEventSubscriber subscriber =
            KvEventSubscriber.start(index, BlockKeys.withDefaults(), options);
        JeromqPublisher publisher = JeromqPublisher.connectedTo(port, "")) {
      publisher.subscribed();
      for (int i = 0; i < Subscription.MOST_KNOWN; i++) {
        publisher.sendOn(topic("pod-" + i), 0, EventBytes.stored(1, null, 100));
      }
      publisher.sendOn(topic("pod-0"), 1, EventBytes.stored(2, null, 200));
      publisher.sendOn(topic("new"), 0, EventBytes.stored(1, null, 100));

      Awaited.until("the new one is followed", () -> index.held("new").size() == 1);
      assertThat(index.held("pod-1")).isEmpty();
      assertThat(index.held("pod-0")).hasSize(2);
      assertThat(index.held("pod-2")).hasSize(1);
      assertThat(subscriber.counts().get(KvEventCount.INVALIDATIONS)).isEqualTo(1);
      assertThat(subscriber.counts().get(KvEventCount.BAD_FRAMES)).isZero();

      publisher.sendOn(topic("pod-1"), 1, EventBytes.stored(2, null, 200));
      Awaited.until("it has come back", () -> index.held("pod-1").size() == 1);
      assertThat(index.held("pod-2")).isEmpty();
    }
  }

  @Test
  void aPortThatIsTaken_costsNoDescriptor() throws IOException {
    assumeTrue(Files.isDirectory(DESCRIPTORS), "needs " + DESCRIPTORS);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      KvEventOptions options =
          KvEventOptions.builder()
              .zmqEndpoint("tcp://127.0.0.1:" + taken.getLocalPort())
              .workers(1)
              .build();
      isRefused(options);
      long before = pipes();
      for (int i = 0; i < 20; i++) {
        isRefused(options);
      }

      Awaited.until("no more pipes are open", () -> pipes() <= before);
    }
  }

  private void isRefused(KvEventOptions options) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KvEventSubscriber.start(index, BlockKeys.withDefaults(), options))
        .withMessageContaining("it could not be bound");
  }

  private static long pipes() {
    try (Stream<Path> open = Files.list(DESCRIPTORS)) {
      return open.filter(BoundEndpointTest::isPipe).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isPipe(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith("pipe:");
    } catch (IOException e) {
      // It was closed meanwhile.
      return false;
    }
  }

  private static String topic(String pod) {
    return "kv@" + pod + "@a-model";
  }
}
