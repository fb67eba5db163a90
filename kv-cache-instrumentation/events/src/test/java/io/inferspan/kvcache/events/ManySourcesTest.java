package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockKeys;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** More publishers than JeroMQ gives sockets to by itself, and those that cannot be. */
class ManySourcesTest {

  private static final int MANY = 1_100;
  private static final Duration WINDOW = Duration.ofMillis(500);

  @Test
  void theLastOfManyPublishers_isReceived_andTheReceiverGoesIdle() {
    FakeBlockIndex index = new FakeBlockIndex();
    int nobodyThere = LibzmqPublisher.freePort();
    int port = LibzmqPublisher.freePort();
    KvEventOptions options = KvEventOptions.withDefaults();
    try (JeromqPublisher publisher = JeromqPublisher.boundTo(port, "kv@any@a-model");
        KvEventSubscriber subscriber =
            KvEventSubscriber.start(index, BlockKeys.withDefaults(), options)) {
      for (int i = 0; i < MANY; i++) {
        subscriber.sourceAdded(new EventSource("pod-" + i, endpoint(nobodyThere), null));
      }
      subscriber.sourceAdded(new EventSource("last", endpoint(port), null));

      publisher.subscribed().send(0, EventBytes.stored(1, null, 100));
      Awaited.until("the last is followed", () -> !index.held("last").isEmpty());
      assertThat(subscriber.waiting()).isZero();
      assertThat(subscriber.counts().get(KvEventCount.FAULTS)).isZero();
      Awaited.until("the receiver rests", () -> receiverCpu() < WINDOW.toNanos() / 10);
    }
  }

  private static String endpoint(int port) {
    return "tcp://127.0.0.1:" + port;
  }

  /** The CPU that the receiver's thread takes for a while, in nanoseconds. */
  private static long receiverCpu() {
    Thread receiver =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("inferspan-kv-receive"))
            .findFirst()
            .orElseThrow();
    long before = ManagementFactory.getThreadMXBean().getThreadCpuTime(receiver.getId());
    LockSupport.parkNanos(WINDOW.toNanos());
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(receiver.getId()) - before;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"tcp://h:0", "tcp://h:00", "tcp://h:65536", "tcp://[::1]:0", "tcp://:1", "h:1"})
  void anInvalidEndpoint_isRefused(String endpoint) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new EventSource("pod", endpoint, null))
        .withMessageContaining(endpoint)
        .withMessageContaining("from 1 to 65535");
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "[::1]", "[fe80::1%2]", "pod-0", "7"})
  void theHost_isParsedFromTheEndpoint(String host) {
    assertThat(new EventSource("pod", "tcp://" + host + ":1", null).host()).isEqualTo(host);
  }
}
