package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that bodies are streamed with back-pressure, over every transport. */
final class StreamingTest extends WireTest {
  private static final int BLOCK = 64 * 1024;
  private static final int BLOCKS = 1000;
  private static final long MOST_HELD_BYTES = 4 << 20;

  static Stream<String> transports() {
    return Stream.of("nio", "epoll", "io_uring")
        .filter(name -> !name.equals("epoll") || Epoll.isAvailable())
        .filter(name -> !name.equals("io_uring") || IoUring.isAvailable());
  }

  @ParameterizedTest
  @MethodSource("transports")
  void pieces_areForwardedOneByOne(String transport) throws Exception {
    AtomicLong seen = new AtomicLong();
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
              for (int i = 0; i < 20; i++) {
                wire.send("3\r\n" + (100 + i) + "\r\n");
                long next = i;
                Awaited.within(Duration.ofSeconds(5), "piece received", () -> seen.get() > next);
              }
              wire.send("0\r\n\r\n");
            });
    Wire client =
        to(before(engine.port(), "--transport=" + transport))
            .send("POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
    client.head();
    for (int i = 0; i < 20; i++) {
      assertThat(client.bytes(8)).isEqualTo("3\r\n" + (100 + i) + "\r\n");
      // The engine continues only after its piece was received here.
      seen.incrementAndGet();
    }
    assertThat(client.bytes(5)).isEqualTo("0\r\n\r\n");
  }

  @ParameterizedTest
  @MethodSource("transports")
  void slowClient_pausesTheEngine_andLittleIsBuffered(String transport) throws Exception {
    AtomicLong sent = new AtomicLong();
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.send("HTTP/1.1 200 OK\r\ncontent-length: " + (long) BLOCK * BLOCKS + "\r\n\r\n");
              pour(wire, sent);
              wire.rest();
            });
    Wire client =
        to(before(engine.port(), "--transport=" + transport))
            .send("GET /x HTTP/1.1\r\nhost: a\r\n\r\n");

    Awaited.within(Duration.ofSeconds(10), "the engine stalls", () -> stalls(sent));
    assertThat(sent.get()).isLessThan((long) BLOCK * BLOCKS);
    assertThat(Cleanliness.held()).isLessThan(MOST_HELD_BYTES);
    assertThat(client.message().body()).hasSize(BLOCK * BLOCKS);
  }

  @ParameterizedTest
  @MethodSource("transports")
  void slowEngine_pausesTheClient_andLittleIsBuffered(String transport) throws Exception {
    AtomicLong sent = new AtomicLong();
    AtomicLong goAhead = new AtomicLong();
    RawServer engine =
        engine(
            (wire, server) -> {
              String head = wire.head();
              Awaited.within(Duration.ofSeconds(20), "go-ahead", () -> goAhead.get() > 0);
              wire.send(ok(Integer.toString(wire.body(head).body().length())));
            });
    Wire client =
        to(before(engine.port(), "--transport=" + transport))
            .send(
                "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: "
                    + (long) BLOCK * BLOCKS
                    + "\r\n\r\n");
    Thread.ofVirtual().start(() -> pourQuietly(client, sent));

    Awaited.within(Duration.ofSeconds(10), "the client stalls", () -> stalls(sent));
    assertThat(sent.get()).isLessThan((long) BLOCK * BLOCKS);
    assertThat(Cleanliness.held()).isLessThan(MOST_HELD_BYTES);
    goAhead.set(1);
    assertThat(client.message().body()).isEqualTo(Integer.toString(BLOCK * BLOCKS));
  }

  private static void pour(Wire wire, AtomicLong sent) throws IOException {
    byte[] block = new byte[BLOCK];
    for (int i = 0; i < BLOCKS; i++) {
      wire.send(block);
      sent.addAndGet(BLOCK);
    }
  }

  private static void pourQuietly(Wire wire, AtomicLong sent) {
    try {
      pour(wire, sent);
    } catch (IOException _) {
      // The test is over.
    }
  }

  /** Returns whether the count has changed and is now constant for a while. */
  private static boolean stalls(AtomicLong count) {
    long before = count.get();
    return before > 0 && !Awaited.holds(Duration.ofMillis(250), () -> count.get() != before);
  }

  @ParameterizedTest
  @MethodSource("transports")
  void peersThatSendFewBytesAtATime_areServed(String transport) throws Exception {
    String answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    RawServer engine =
        engine(
            (wire, server) -> {
              server.request(wire);
              wire.trickle(answer);
              server.request(wire);
              wire.trickle(answer);
            });
    Wire client = to(before(engine.port(), "--transport=" + transport));
    for (int i = 0; i < 2; i++) {
      client.trickle("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody");
      assertThat(client.message().body()).isEqualTo("abc");
    }
  }

  @ParameterizedTest
  @MethodSource("transports")
  void clientThatDisconnectsDuringAnUpload_cancelsTheCall(String transport) throws Exception {
    RawServer engine =
        engine(
            (wire, server) -> {
              server.saw(wire.head());
              wire.rest();
            });
    Wire client =
        to(before(engine.port(), "--transport=" + transport))
            .send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\nabc");
    Awaited.within(Duration.ofSeconds(3), "the engine is called", () -> engine.heads().size() == 1);

    client.close();

    Awaited.within(Duration.ofSeconds(1), "the call is cancelled", () -> engine.ended() == 1);
  }
}
