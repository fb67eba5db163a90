package io.inferspan.extproc.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.extproc.wire.MalformedMessageException;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class GrpcFramesTest {

  private static final int MAX = 100_000;

  private final HeldBytes budget = new HeldBytes(1 << 20);
  private final GrpcFrames frames = new GrpcFrames(MAX, budget);

  private static Buffer frame(byte[] message) {
    return Buffer.buffer().appendByte((byte) 0).appendInt(message.length).appendBytes(message);
  }

  private static byte[] bytes(ByteBuffer message) {
    byte[] bytes = new byte[message.remaining()];
    message.get(bytes);
    return bytes;
  }

  @Test
  void messages_comeOutHoweverTheyAreCut() throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    List<byte[]> sent = new ArrayList<>();
    Buffer stream = Buffer.buffer();
    for (int i = 0; i < 200; i++) {
      byte[] message = new byte[random.nextInt(i % 20 == 0 ? 60_000 : 40)];
      random.nextBytes(message);
      sent.add(message);
      stream.appendBuffer(frame(message));
    }
    List<byte[]> received = new ArrayList<>();
    for (int at = 0; at < stream.length(); ) {
      int cut = Math.min(stream.length(), at + random.nextInt(1, 3000));
      frames.append(stream.getBuffer(at, cut));
      at = cut;
      for (ByteBuffer next = frames.next(); next != null; next = frames.next()) {
        received.add(bytes(next));
      }
    }
    assertThat(received).hasSameSizeAs(sent);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(received.get(i)).isEqualTo(sent.get(i));
    }
    assertThat(frames.waitingBytes()).isZero();
  }

  @Test
  void incompleteMessage_isNotDelivered() throws Exception {
    Buffer whole = frame(new byte[] {1, 2, 3});
    frames.append(whole.getBuffer(0, 7));
    assertThat(frames.next()).isNull();
    assertThat(frames.waitingBytes()).isEqualTo(7);
    frames.append(whole.getBuffer(7, 8));
    assertThat(frames.next()).isNotNull();
    assertThat(frames.waitingBytes()).isZero();
  }

  @Test
  void lengthAboveTheBound_isRefusedBeforeItComes() {
    for (int length : new int[] {MAX + 1, -1, Integer.MAX_VALUE}) {
      GrpcFrames fresh = new GrpcFrames(MAX, budget);
      fresh.append(Buffer.buffer().appendByte((byte) 0).appendInt(length));
      assertThatThrownBy(fresh::next)
          .isInstanceOf(OversizedMessageException.class)
          .hasMessageContaining("more than " + MAX);
    }
  }

  @Test
  void incompleteMessage_countsAsHeldBytesUntilItIsComplete() throws Exception {
    Buffer whole = frame(new byte[80_000]);
    frames.append(whole.getBuffer(0, 40_000));
    assertThat(frames.next()).isNull();
    assertThat(budget.held()).isBetween(40_000L - 5, 80_000L);
    frames.append(whole.getBuffer(40_000, whole.length()));
    assertThat(frames.next()).isNotNull();
    assertThat(budget.held()).isZero();
  }

  @Test
  void arrayOfALargeMessage_isReleasedWithIt() throws Exception {
    frames.append(frame(new byte[80_000]).appendBuffer(frame(new byte[100]).getBuffer(0, 50)));
    assertThat(frames.next()).isNotNull();
    assertThat(frames.next()).isNull();
    assertThat(budget.held()).isZero();
  }

  @Test
  void messageForWhichThereIsNoRoom_isRefusedAndForgotten() throws Exception {
    budget.reserve((1 << 20) - 39_999);
    frames.append(frame(new byte[80_000]).getBuffer(0, 20_000));
    assertThat(frames.next()).isNull();
    frames.append(Buffer.buffer(new byte[20_000]));
    assertThatThrownBy(frames::next)
        .isInstanceOfSatisfying(
            OversizedMessageException.class,
            e -> assertThat(e.why()).isEqualTo(OversizedMessageException.Cause.NO_ROOM));
    frames.drop();
    assertThat(budget.held()).isEqualTo((1 << 20) - 39_999);
    frames.append(Buffer.buffer(new byte[20_000]));
    assertThat(frames.waitingBytes()).isZero();
  }

  @Test
  void mutatedStreams_giveMessagesOrAReason() {
    SplittableRandom random = new SplittableRandom(13);
    Buffer stream = Buffer.buffer();
    for (int i = 0; i < 4; i++) {
      stream.appendBuffer(frame(new byte[i * 7]));
    }
    for (int round = 0; round < 50_000; round++) {
      Buffer mutated = stream.copy();
      mutated.setByte(random.nextInt(mutated.length()), (byte) random.nextInt(256));
      GrpcFrames fresh = new GrpcFrames(MAX, budget);
      int cut = random.nextInt(mutated.length());
      try {
        fresh.append(mutated.getBuffer(0, cut));
        drain(fresh);
        fresh.append(mutated.getBuffer(cut, mutated.length()));
        drain(fresh);
      } catch (MalformedMessageException e) {
        assertThat(e.reason()).startsWith("the message");
      } catch (OversizedMessageException e) {
        assertThat(e).hasMessageStartingWith("the message");
      }
      fresh.drop();
      assertThat(budget.held()).isZero();
    }
  }

  private static void drain(GrpcFrames frames)
      throws MalformedMessageException, OversizedMessageException {
    for (ByteBuffer next = frames.next(); next != null; next = frames.next()) {
      assertThat(next.remaining()).isLessThanOrEqualTo(MAX);
    }
  }

  @Test
  void compressedMessage_isRefused() {
    frames.append(Buffer.buffer().appendByte((byte) 1).appendInt(0));
    assertThatThrownBy(frames::next).hasMessageContaining("compressed");
  }
}
