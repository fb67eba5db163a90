package io.inferspan.kvcache.events;

import static io.inferspan.kvcache.events.LibzmqPublisher.removed;
import static io.inferspan.kvcache.events.LibzmqPublisher.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.block.BlockKeys;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvEventSubscriberTest {
  private static final String POD = "10.0.0.1:8000";
  private static final BlockKeys KEYS = BlockKeys.withDefaults();

  private final FakeBlockIndex index = new FakeBlockIndex();
  private final int port = LibzmqPublisher.freePort();
  private final int replayPort = LibzmqPublisher.freePort();
  private final List<AutoCloseable> open = new ArrayList<>();
  private KvEventSubscriber subscriber = subscriber(options());

  @BeforeAll
  static void libzmq() throws Exception {
    LibzmqPublisher.assumeAvailable();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    Awaited.until("no thread is left", () -> threads().isEmpty());
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("inferspan-kv"))
        .toList();
  }

  private static KvEventOptions.Builder options() {
    return KvEventOptions.builder().reconnect(Duration.ofMillis(50));
  }

  private KvEventSubscriber subscriber(KvEventOptions.Builder options) {
    KvEventSubscriber started = KvEventSubscriber.start(index, KEYS, options.build());
    open.add(started);
    return started;
  }

  private LibzmqPublisher publisher(boolean replays) throws IOException {
    LibzmqPublisher publisher = LibzmqPublisher.start(port, replays ? replayPort : 0);
    open.add(publisher);
    return publisher;
  }

  /** A publisher that the subscriber follows. */
  private LibzmqPublisher followed(boolean replays) throws IOException {
    LibzmqPublisher publisher = publisher(replays);
    follow(replays);
    return publisher.subscribed();
  }

  private void follow(boolean replays) {
    String replay = replays ? "tcp://127.0.0.1:" + replayPort : null;
    subscriber.sourceAdded(new EventSource(POD, "tcp://127.0.0.1:" + port, replay));
  }

  private static Set<Long> keys(int... firstTokens) {
    Set<Long> keys = new TreeSet<>();
    for (int first : firstTokens) {
      keys.add(KEYS.of("a-model", IntStream.range(first, first + 16).toArray())[0]);
    }
    return keys;
  }

  private void awaitHeld(int... firstTokens) {
    Set<Long> expected = keys(firstTokens);
    try {
      Awaited.until("the index has them", () -> index.held(POD).equals(expected));
    } catch (AssertionError e) {
      throw new AssertionError(
          "held "
              + index.held(POD).size()
              + " of "
              + Arrays.toString(firstTokens)
              + subscriber.counts(),
          e);
    }
  }

  @Test
  void case45_eventsOfALibzmqPublisher_fillTheIndex() throws Exception {
    LibzmqPublisher publisher = followed(false);

    publisher
        .send(stored(1, null, 100), stored(2, null, 200))
        .send(
            "[\"BlockStored\",[{\"$bytes\":\"0000000000000000ff\"}],null,"
                + IntStream.range(300, 316).boxed().toList()
                + ",16]")
        .send("{\"type\":\"BlockRemoved\",\"block_hashes\":[2],\"medium\":\"GPU\"}");

    awaitHeld(100, 300);
    assertThat(subscriber.counts().get(KvEventCount.BATCHES)).isEqualTo(3);
    assertThat(subscriber.counts().lagSeconds()).isBetween(0.0, 60.0);
    publisher.send("[\"AllBlocksCleared\"]");
    awaitHeld();
  }

  @ParameterizedTest
  @ValueSource(strings = {"vllm", "bare", "simulator", "delimited-simulator"})
  void lostBatches_areReplayed(String shape) throws Exception {
    LibzmqPublisher publisher = followed(true).shape(shape);

    publisher.send(stored(1, null, 100)).lose(stored(2, null, 200)).lose(removed(1));
    publisher.send(stored(3, null, 300));
    awaitHeld(200, 300);
    publisher.send(stored(4, null, 400));

    awaitHeld(200, 300, 400);
    KvEventCounts counts = subscriber.counts();
    assertThat(publisher.asked()).isEqualTo("[1]");
    assertThat(counts.get(KvEventCount.GAPS)).isEqualTo(1);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(2);
    assertThat(counts.get(KvEventCount.REPLAYED_BATCHES)).isEqualTo(2);
    assertThat(counts.get(KvEventCount.BATCHES)).isEqualTo(3);
    assertThat(counts.get(KvEventCount.REPLAYS)).isEqualTo(1);
    assertThat(counts.get(KvEventCount.FAILED_REPLAYS)).isZero();
    assertThat(counts.get(KvEventCount.RESTARTS)).isZero();
  }

  @Test
  void aReplayWithoutAnAnswer_clearsThePod() throws Exception {
    LibzmqPublisher publisher = followed(true).shape("silent");

    publisher.send(stored(1, null, 100)).lose(removed(1)).send(stored(3, null, 300));

    awaitHeld(300);
    assertThat(subscriber.counts().get(KvEventCount.FAILED_REPLAYS)).isEqualTo(1);
    assertThat(subscriber.counts().get(KvEventCount.INVALIDATIONS)).isEqualTo(1);
    String asked = publisher.asked();
    assertThat(asked).matches("\\[1(, 1){0,2}]");
    // For a while no replay is tried any more.
    publisher.lose(removed(3)).send(stored(4, null, 400));
    awaitHeld(400);
    assertThat(publisher.asked()).isEqualTo(asked);
  }

  @Test
  void batchesMissingAfterAFailedReplay_areRequestedLater() throws Exception {
    Replay.Limits soonAgain = new Replay.Limits(5_000, 200, 3, 10, 300, 8);
    subscriber = subscriber(options().replayLimits(soonAgain));
    LibzmqPublisher publisher = followed(true).shape("silent");
    publisher.send(stored(1, null, 100)).lose(stored(2, null, 200)).send(stored(3, null, 300));
    awaitHeld(300);

    publisher.shape("vllm");

    awaitHeld(100, 200, 300);
    publisher.lose(removed(3)).send(removed(1));
    awaitHeld(200);
    assertThat(subscriber.counts().get(KvEventCount.RESTARTS)).isZero();
  }

  @Test
  void batchesMissedDuringTheCooldown_areRequestedLater() throws Exception {
    Replay.Limits soonAgain = new Replay.Limits(5_000, 200, 1, 10, 1_000, 8);
    subscriber = subscriber(options().replayLimits(soonAgain));
    LibzmqPublisher publisher = followed(true).shape("silent");
    publisher.send(stored(1, null, 100)).lose(stored(2, null, 200)).send(stored(3, null, 300));
    awaitHeld(300);

    publisher.shape("vllm").lose(removed(2)).send(stored(4, null, 400));

    awaitHeld(100, 300, 400);
  }

  @Test
  void aReplayWithoutTheMissingBatch_clearsThePod() throws Exception {
    LibzmqPublisher publisher = followed(true);

    publisher.send(stored(1, null, 100)).loseForEver(removed(1)).lose(stored(2, null, 200));
    publisher.send(stored(3, null, 300));

    awaitHeld(300);
    assertThat(subscriber.counts().get(KvEventCount.FAILED_REPLAYS)).isEqualTo(1);
  }

  @Test
  void aGapWithoutReplay_clearsThePod() throws Exception {
    LibzmqPublisher publisher = followed(false);

    publisher.send(stored(1, null, 100)).lose(removed(1)).send(stored(3, null, 300));

    awaitHeld(300);
    assertThat(subscriber.counts().get(KvEventCount.GAPS)).isEqualTo(1);
    assertThat(subscriber.counts().get(KvEventCount.MISSED_BATCHES)).isEqualTo(1);
  }

  @Test
  void joiningLate_requestsTheBatchesStillAvailable() throws Exception {
    LibzmqPublisher publisher = publisher(true);
    publisher.loseForEver(stored(1, null, 100)).lose(stored(2, null, 200));
    follow(true);
    publisher.subscribed().send(stored(3, null, 300));

    awaitHeld(200, 300);
    assertThat(subscriber.counts().get(KvEventCount.GAPS)).isZero();
  }

  @Test
  void aKilledPublisherThatRestarts_clearsThePod() throws Exception {
    LibzmqPublisher first = followed(false);
    first.send(stored(1, null, 100)).send(stored(2, null, 200));
    awaitHeld(100, 200);
    first.kill();

    LibzmqPublisher second = publisher(false).subscribed();
    second.send(stored(3, null, 300));

    awaitHeld(300);
    assertThat(subscriber.counts().get(KvEventCount.RESTARTS)).isEqualTo(1);
    assertThat(subscriber.counts().get(KvEventCount.GAPS)).isZero();
  }

  @Test
  void anUnnoticedRestart_isDetectedByTheReplay() throws Exception {
    LibzmqPublisher first = followed(true);
    first.send(stored(1, null, 100)).send(stored(2, null, 200));
    awaitHeld(100, 200);
    first.kill();

    // It has come further than the first one before it is followed again.
    LibzmqPublisher second = publisher(true);
    second.lose(stored(3, null, 300)).lose(stored(4, null, 400));
    second.subscribed().send(stored(5, null, 500));

    awaitHeld(300, 400, 500);
    assertThat(subscriber.counts().get(KvEventCount.RESTARTS)).isEqualTo(1);
  }

  @Test
  void aConnectionThatWasCut_losesNothing() throws Exception {
    LibzmqPublisher publisher = publisher(true);
    try (CuttableProxy proxy = CuttableProxy.to(port)) {
      subscriber.sourceAdded(
          new EventSource(POD, proxy.endpoint(), "tcp://127.0.0.1:" + replayPort));
      publisher.subscribed().send(stored(1, null, 100));
      awaitHeld(100);

      proxy.cut();
      publisher.subscribed().send(stored(2, null, 200));

      awaitHeld(100, 200);
      assertThat(subscriber.counts().get(KvEventCount.RESTARTS)).isZero();
      assertThat(subscriber.counts().get(KvEventCount.INVALIDATIONS)).isZero();
      // It was asked whether it is still the same.
      assertThat(publisher.asked()).isEqualTo("[0]");
    }
  }

  @Test
  void garbage_isCounted_andTheNextBatchIsRead() throws Exception {
    LibzmqPublisher publisher = followed(false);
    String topic = "6b7640";
    String seq = "0000000000000063";
    publisher
        .send(stored(1, null, 100))
        .raw(topic)
        .raw(topic, seq)
        .raw(topic, "00", "90")
        .raw(topic, seq, "90", "90")
        .raw(topic, seq, "c1c1c1")
        .raw(topic, seq, "")
        .raw(topic, "ffffffffffffffff", "90")
        .raw(topic + "ff".repeat(2000), seq, "90")
        .send(stored(2, null, 200));

    awaitHeld(100, 200);
    assertThat(subscriber.counts().get(KvEventCount.BAD_FRAMES)).isEqualTo(8);
    assertThat(subscriber.counts().get(KvEventCount.GAPS)).isZero();
  }

  @Test
  void aSlowWorker_makesThePublisherWait_andLosesNothing() throws Exception {
    subscriber = subscriber(options().queueBatches(4));
    LibzmqPublisher publisher = followed(false);
    CountDownLatch gate = new CountDownLatch(1);
    index.gate(gate);

    int[] firsts = new int[3000];
    for (int i = 0; i < firsts.length; i++) {
      firsts[i] = 100 * (i + 1);
      publisher.send(stored(i + 1, null, firsts[i]));
    }
    Awaited.until("the queue is full", () -> subscriber.queued() >= 4);
    assertThat(subscriber.queued()).isEqualTo(4);
    gate.countDown();

    awaitHeld(firsts);
    assertThat(subscriber.counts().get(KvEventCount.BATCHES)).isEqualTo(3000);
    assertThat(subscriber.counts().get(KvEventCount.DROPPED_BATCHES)).isZero();
  }

  @Test
  void podsMayConnectToABoundEndpoint_andTopicsNameThem() throws Exception {
    int bound = LibzmqPublisher.freePort();
    subscriber = subscriber(options().zmqEndpoint("tcp://127.0.0.1:" + bound).workers(2));
    try (JeromqPublisher one = JeromqPublisher.connectedTo(bound, "kv@one@a-model");
        JeromqPublisher two = JeromqPublisher.connectedTo(bound, "kv@two@a-model")) {
      one.subscribed().send(0, EventBytes.stored(1, null, 100));
      two.subscribed().send(0, EventBytes.stored(1, null, 100));
      one.send(1, EventBytes.removed(1), EventBytes.stored(2, null, 200));

      Awaited.until("one", () -> index.held("one").equals(keys(200)));
      Awaited.until("two", () -> index.held("two").equals(keys(100)));
      subscriber.podRemoved("one");
      Awaited.until("one is gone", () -> index.held("one").isEmpty());
      assertThat(index.held("two")).isEqualTo(keys(100));
    }
  }

  @Test
  void aSlowWorkerOfABoundSocket_dropsAndCountsBatches_andClearsThePod() throws Exception {
    int bound = LibzmqPublisher.freePort();
    subscriber = subscriber(options().zmqEndpoint("tcp://127.0.0.1:" + bound).queueBatches(4));
    try (JeromqPublisher publisher = JeromqPublisher.connectedTo(bound, "kv@one@a-model")) {
      publisher.subscribed();
      CountDownLatch gate = new CountDownLatch(1);
      index.gate(gate);
      for (int i = 0; i < 30; i++) {
        publisher.send(i, EventBytes.stored(i + 1, null, 100 * (i + 1)));
      }
      KvEventCounts counts = subscriber.counts();
      // Four are held, the one in work included: all have come before the gate is open.
      Awaited.until("batches are dropped", () -> counts.get(KvEventCount.DROPPED_BATCHES) == 26);
      gate.countDown();

      // No batch follows the dropped one, and still it counts as missing.
      Awaited.until("the pod is cleared", () -> counts.get(KvEventCount.INVALIDATIONS) == 1);
      Awaited.until("four are applied", () -> counts.get(KvEventCount.BATCHES) == 4);
      Awaited.until("26 are missed", () -> counts.get(KvEventCount.MISSED_BATCHES) == 26);
      assertThat(counts.get(KvEventCount.DROPPED_BATCHES)).isEqualTo(26);
      Awaited.until("nothing is left", () -> index.held("one").isEmpty());
      publisher.send(30, EventBytes.stored(99, null, 9900));
      Awaited.until("it goes on", () -> index.held("one").equals(keys(9900)));
      assertThat(counts.get(KvEventCount.RESTARTS)).isZero();
    }
  }

  @Test
  void aPodThatIsRemoved_leavesTheIndex() throws Exception {
    LibzmqPublisher publisher = followed(false);
    publisher.send(stored(1, null, 100));
    awaitHeld(100);

    subscriber.podRemoved(POD);

    awaitHeld();
    follow(false);
    publisher.subscribed().send(stored(2, null, 200));
    awaitHeld(200);
  }

  @Test
  void closing_leavesNoThread_andIsDoneOnce() throws Exception {
    LibzmqPublisher publisher = followed(true).shape("silent");
    publisher.send(stored(1, null, 100)).lose(removed(1)).send(stored(2, null, 200));
    Awaited.until("a replay is under way", () -> publisher.asked().length() > 2);

    subscriber.close();

    Awaited.until("no thread is left", () -> threads().isEmpty());
    subscriber.close();
  }
}
