package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

class ReplayPoolTest {

  private static final byte[] PAYLOAD = "a batch".getBytes(StandardCharsets.UTF_8);

  private final ZMQ.Context ours = ZMQ.context(1);
  private final ZMQ.Context theirs = ZMQ.context(1);
  private final WorkQueue queue = new WorkQueue(100, 1 << 20);
  private final int port = LibzmqPublisher.freePort();

  @BeforeEach
  void publish() {
    ZMQ.Socket publisher = theirs.socket(SocketType.ROUTER);
    publisher.setLinger(0);
    publisher.bind("tcp://127.0.0.1:" + port);
    Threads.daemon(() -> answer(publisher), "publisher").start();
  }

  /** Sends the batch that each question asks for, until the context ends. */
  private static void answer(ZMQ.Socket publisher) {
    try (publisher) {
      for (byte[] asking = publisher.recv(); asking != null; asking = publisher.recv()) {
        byte[] empty = publisher.recv();
        byte[] sequence = publisher.recv();
        publisher.send(asking, ZMQ.SNDMORE);
        publisher.send(empty, ZMQ.SNDMORE);
        publisher.send(sequence, ZMQ.SNDMORE);
        publisher.send(PAYLOAD, 0);
      }
    } catch (ZMQException e) {
      assertThat(e.getErrorCode()).isEqualTo(ZMQ.Error.ETERM.getCode());
    }
  }

  @AfterEach
  void close() {
    ours.close();
    theirs.close();
  }

  /** The answer to a replay from batch 7. */
  private List<Message.Kind> replayed(String endpoint, Replay.Limits limits) throws Exception {
    KvEventOptions options = KvEventOptions.builder().replayLimits(limits).build();
    ReplayPool calls = new ReplayPool(ours, options, new KvEventCounts());
    Stream stream = new Stream("pod", "tcp://here:1", endpoint, new StreamTest.Effects());
    calls.start(new Replay(stream, Topic.NONE, 7, 7, Replay.Mode.GAP, 0), queue);
    List<Message> answers = new ArrayList<>();
    while (answers.isEmpty() || answers.get(answers.size() - 1).kind() == Message.Kind.REPLAYED) {
      queue.take(answers, 2, 1_000);
    }
    calls.close(20_000);
    return answers.stream().map(Message::kind).toList();
  }

  @Test
  void aHangingHandshake_doesNotCountAsASilentPublisher() throws Exception {
    Replay.Limits impatient = new Replay.Limits(20_000, 200, 1, 10, 300, 1);
    try (CuttableProxy proxy = CuttableProxy.to(port).hanging(1)) {
      assertThat(replayed(proxy.endpoint(), impatient))
          .containsExactly(Message.Kind.REPLAYED, Message.Kind.REPLAY_DONE);
      assertThat(proxy.hanging()).isZero();
    }
  }

  @Test
  void anAbsentPublisher_failsTheReplay() throws Exception {
    Replay.Limits impatient = new Replay.Limits(300, 200, 1, 10, 300, 1);
    String absent = "tcp://127.0.0.1:" + LibzmqPublisher.freePort();
    assertThat(replayed(absent, impatient)).containsExactly(Message.Kind.REPLAY_FAILED);
  }
}
