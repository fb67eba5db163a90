package io.inferspan.pd.wire;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Tests that a client may cancel many streams, but that a flood of resets is cut off. */
final class Http2ResetTest extends WireTest {
  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int SETTINGS = 4;
  private static final int GOAWAY = 7;
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final byte[] CANCEL = {0, 0, 0, 8};

  private int stream = -1;

  private Wire connected() throws IOException {
    RawServer engine = engineAnswering(ok("{}"));
    SidecarRig sidecar = before(engine.port());
    return to(sidecar)
        .send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .send(frame(SETTINGS, 0, 0, new byte[0]));
  }

  private static byte[] frame(int type, int flags, int stream, byte[] payload) {
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    for (int shift = 16; shift >= 0; shift -= 8) {
      frame.write(payload.length >>> shift);
    }
    frame.write(type);
    frame.write(flags);
    for (int shift = 24; shift >= 0; shift -= 8) {
      frame.write(stream >>> shift);
    }
    frame.writeBytes(payload);
    return frame.toByteArray();
  }

  /** Encodes headers, with the method as an index of the static table. */
  private static byte[] head(int method, String path) {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    head.write(method);
    head.write(0x86);
    head.write(0x04);
    text(head, path);
    head.write(0x01);
    text(head, "a");
    head.write(0x00);
    text(head, "x-prefiller-host-port");
    text(head, "127.0.0.1:1");
    return head.toByteArray();
  }

  private static void text(ByteArrayOutputStream head, String text) {
    head.write(text.length());
    head.writeBytes(text.getBytes(ISO_8859_1));
  }

  /** Returns frames that start an upload and cancel it. */
  private byte[] cancelled() {
    stream += 2;
    ByteArrayOutputStream both = new ByteArrayOutputStream();
    both.writeBytes(frame(HEADERS, END_HEADERS, stream, head(0x83, "/v1/completions")));
    both.writeBytes(frame(RST_STREAM, 0, stream, CANCEL));
    return both.toByteArray();
  }

  private byte[] cancelled(int count) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      all.writeBytes(cancelled());
    }
    return all.toByteArray();
  }

  /** Reads frames until one of this type; returns its stream. */
  private static int await(Wire wire, int type) throws IOException {
    while (true) {
      ByteBuffer head = ByteBuffer.wrap(wire.bytes(9).getBytes(ISO_8859_1));
      wire.bytes(head.getInt(0) >>> 8);
      if (head.get(3) == type) {
        return head.getInt(5);
      }
    }
  }

  @Test
  void clientThatCancelsEveryStreamOfAFullConnection_isStillServed() throws Exception {
    Wire gateway = connected();
    gateway.send(cancelled(4 * 250));

    stream += 2;
    gateway.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, head(0x82, "/health")));

    assertThat(await(gateway, HEADERS)).isEqualTo(stream);
  }

  @Test
  void rapidReset_endsTheConnection() throws Exception {
    Wire attacker = connected();
    Thread.ofVirtual().start(() -> flood(attacker, 100_000));

    await(attacker, GOAWAY);

    assertThat(attacker.endsWithin(3000)).isTrue();
  }

  private void flood(Wire wire, int count) {
    try {
      for (int i = 0; i < count; i += 500) {
        wire.send(cancelled(500));
      }
    } catch (IOException _) {
      // The connection was closed, as it should be.
    }
  }
}
