package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.CapturedLog;
import io.inferspan.kvcache.block.BlockKeys;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pods that are named, and names that have no address or none yet. */
class PodNamesTest {

  private static final String UNKNOWN = "no-such.invalid:8000";

  @Test
  void anUnresolvedName_isLoggedOnce_andDelaysNoOtherPublisher() {
    int port = LibzmqPublisher.freePort();
    FakeBlockIndex index = new FakeBlockIndex();
    KvEventOptions options =
        KvEventOptions.builder().port(port).reconnect(Duration.ofMillis(20)).build();
    try (JeromqPublisher publisher = JeromqPublisher.boundTo(port, "kv@any@a-model");
        CapturedLog warnings = CapturedLog.warningsOf(PendingSources.class);
        KvEventSubscriber subscriber =
            KvEventSubscriber.start(index, BlockKeys.withDefaults(), options)) {
      subscriber.podAdded(UNKNOWN);
      Awaited.until("it has no address", () -> warnings.count() > 0);

      subscriber.podAdded("127.0.0.1:8000");
      publisher.subscribed().send(0, EventBytes.stored(1, null, 100));
      Awaited.until("the other is followed", () -> !index.held("127.0.0.1:8000").isEmpty());

      assertThat(Awaited.holds(Duration.ofMillis(300), () -> warnings.count() > 1)).isFalse();
      assertThat(warnings.messages().get(0)).contains(UNKNOWN, "tcp://no-such.invalid:" + port);
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      KvEventMeters.register(registry, subscriber);
      assertThat(registry.get("inferspan.kvcache.events.sources.waiting").gauge().value())
          .isEqualTo(1);
      assertThat(subscriber.counts().get(KvEventCount.FAULTS)).isZero();
      subscriber.podRemoved(UNKNOWN);
      Awaited.until("no source is pending", () -> subscriber.waiting() == 0);
    }
  }

  @Test
  void aNameThatResolvesLater_isSubscribedThen(@TempDir Path directory) throws Exception {
    Path hosts = Files.writeString(directory.resolve("hosts"), "127.0.0.1 localhost\n");

    assertThat(NamedPodProcess.run("later", hosts)).endsWith("exit 0");
  }

  @Test
  void aSlowNameServer_delaysNoOtherPublisher(@TempDir Path directory) throws Exception {
    Path hosts = directory.resolve("hosts");
    Process made = new ProcessBuilder("mkfifo", hosts.toString()).start();
    assertThat(made.waitFor()).isZero();

    assertThat(NamedPodProcess.run("slow", hosts)).endsWith("exit 0");
  }
}
