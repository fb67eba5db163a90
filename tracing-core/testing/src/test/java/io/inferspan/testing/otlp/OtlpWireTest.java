package io.inferspan.testing.otlp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class OtlpWireTest {
  private static final byte[] MESSAGE = "message".getBytes(UTF_8);

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private static void assertMalformed(byte[] body, String reason) {
    assertThatThrownBy(() -> OtlpWire.unframe(body, "gzip"))
        .isInstanceOf(InvalidProtocolBufferException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void frame_roundTrips() throws Exception {
    assertThat(OtlpWire.unframe(OtlpWire.frame(MESSAGE), null)).isEqualTo(MESSAGE);
    assertThat(OtlpWire.frame(new byte[0])).isEqualTo(new byte[5]);
  }

  @Test
  void frameFlag_determinesCompression() throws Exception {
    byte[] compressed = OtlpWire.frame(gzip(MESSAGE));
    compressed[0] = 1;
    assertThat(OtlpWire.unframe(compressed, "gzip")).isEqualTo(MESSAGE);
    // grpc-encoding names the compression; a frame may still be uncompressed.
    assertThat(OtlpWire.unframe(OtlpWire.frame(MESSAGE), "gzip")).isEqualTo(MESSAGE);
  }

  @Test
  void malformedFrames_areRejectedWithAReason() {
    byte[] frame = OtlpWire.frame(MESSAGE);
    assertMalformed(new byte[0], "ends after 0 bytes");
    assertMalformed(Arrays.copyOf(frame, frame.length - 1), "says 7 bytes, but 6 follow");
    assertMalformed(Arrays.copyOf(frame, frame.length + 1), "says 7 bytes, but 8 follow");
    frame[0] = 1;
    assertMalformed(frame, "not gzip");
    frame[0] = 9;
    assertMalformed(frame, "unknown flag 9");
  }

  @Test
  void garbage_isMalformed() {
    Random random = new Random(23);
    int malformed = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] body = new byte[random.nextInt(24)];
      random.nextBytes(body);
      try {
        OtlpWire.unframe(body, "gzip");
      } catch (InvalidProtocolBufferException expected) {
        malformed++;
      }
    }
    assertThat(malformed).isGreaterThan(19_000);
  }

  @Test
  void compressionBomb_isNotExpanded() throws Exception {
    byte[] bomb = gzip(new byte[OtlpWire.MAX_MESSAGE_BYTES + 1]);
    assertThat(bomb.length).isLessThan(1 << 20);
    assertThatThrownBy(() -> OtlpWire.expand(bomb, "gzip"))
        .isInstanceOf(InvalidProtocolBufferException.class)
        .hasMessageContaining("larger than");
  }

  @Test
  void otherCompressions_areReportedByName() throws Exception {
    assertThat(OtlpWire.isGzip(null)).isFalse();
    assertThat(OtlpWire.isGzip("identity")).isFalse();
    assertThat(OtlpWire.isGzip("GZIP")).isTrue();
    assertThatThrownBy(() -> OtlpWire.isGzip("br")).hasMessageContaining("not br");
  }

  @Test
  void grpcMessage_isAscii() {
    assertThat(OtlpWire.percentEncode("100% ü\n")).isEqualTo("100%25 %C3%BC%0A");
  }
}
