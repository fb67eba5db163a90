package io.inferspan.pd.wire;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the disconnection of a client is detected while its upload is paused. */
final class PausedUploadTest extends WireTest {
  private static final Duration BOUND = Duration.ofSeconds(8);
  private static final Duration STILL = Duration.ofMillis(400);
  private static final int PIECE = 32 * 1024;

  /** The sidecar detects an end behind at most this; the kernel would buffer megabytes more. */
  private static final int MOST_UNREAD = 200 * 1024;

  static Stream<Arguments> ways() {
    return Stream.of("nio", "epoll")
        .flatMap(transport -> Stream.of(true, false).map(reset -> Arguments.of(transport, reset)));
  }

  @ParameterizedTest
  @MethodSource("ways")
  void clientThatLeaves_whileTheEngineReadsNothing_isNoticed(String transport, boolean reset)
      throws Exception {
    Assumptions.assumeTrue(!transport.equals("epoll") || Epoll.isAvailable(), "no epoll here");
    RawServer engine = engine((wire, server) -> server.saw(wire.head() + hold(server)));
    SidecarRig sidecar = before(engine.port(), "--transport=" + transport);
    Wire client = to(sidecar);
    client.socket().setSendBufferSize(8 * 1024);
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n");
    AtomicLong sent = new AtomicLong();
    Thread.ofVirtual().start(() -> sendForever(client, sent));
    Awaited.within(Duration.ofSeconds(60), "the upload stalls", () -> stalls(sent));

    if (reset) {
      client.reset();
    } else {
      client.close();
    }

    try {
      Awaited.within(BOUND, "noticed", () -> sidecar.server().openConnections() == 0);
    } finally {
      engine.saw("over");
    }
  }

  /** Reads nothing until the test is over. */
  private static String hold(RawServer server) {
    Awaited.within(Duration.ofSeconds(90), "over", () -> server.heads().contains("over"));
    return "";
  }

  private static void sendForever(Wire client, AtomicLong sent) {
    byte[] piece = new byte[PIECE];
    int port = client.socket().getLocalPort();
    try {
      while (true) {
        if (unread(port) < MOST_UNREAD) {
          client.send(piece);
          sent.addAndGet(PIECE);
        } else {
          LockSupport.parkNanos(1_000_000);
        }
      }
    } catch (IOException _) {
      // The client has disconnected, as the test wants.
    }
  }

  /** Returns the bytes from a client that wait in the kernel; 0 if unknown. */
  private static long unread(int clientPort) throws IOException {
    String client = ":%04X".formatted(clientPort);
    long unread = 0;
    for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      Path file = Path.of(table);
      for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
        String[] words = line.strip().split(" +", -1);
        if (words[2].endsWith(client)) {
          unread += Long.parseLong(words[4].split(":", 2)[1], 16);
        }
      }
    }
    return unread;
  }

  private static boolean stalls(AtomicLong sent) {
    long before = sent.get();
    return before > 0 && !Awaited.holds(STILL, () -> sent.get() != before);
  }
}
