package io.inferspan.response;

import static io.inferspan.response.Bodies.SSE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BodyDecoderTest {

  private static byte[] encoded(String encoding, byte[] plain) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out =
        encoding.endsWith("gzip") ? new GZIPOutputStream(bytes) : new DeflaterOutputStream(bytes)) {
      out.write(plain);
    }
    return bytes.toByteArray();
  }

  private static ResponseTap tap(String encoding, byte[] body, int pieceBytes) {
    ResponseTap tap = ResponseTap.forHeaders(SSE, encoding);
    for (int at = 0; at < body.length; at += pieceBytes) {
      int length = Math.min(pieceBytes, body.length - at);
      ByteBuffer piece = ByteBuffer.wrap(body, at, length).slice();
      tap.see(piece, at);
      assertThat(piece.remaining()).isEqualTo(length);
    }
    tap.end(body.length);
    return tap;
  }

  @ParameterizedTest
  @CsvSource({"gzip,1", "gzip,7", "gzip,100000", "x-gzip,13", "GZIP,64", "deflate,1", "deflate,99"})
  void encodedStream_isRead(String encoding, int pieceBytes) throws IOException {
    byte[] body = encoded(encoding.toLowerCase(Locale.ROOT), Bodies.chat().getBytes(UTF_8));
    ResponseTap tap = tap(encoding, body, pieceBytes);
    assertThat(tap.tokens()).isEqualTo(3);
    assertThat(tap.promptTokens()).isEqualTo(31);
    assertThat(tap.complete()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"1", "5", "1000"})
  void optionalFieldsOfTheHeader_areSkipped(int pieceBytes) throws IOException {
    byte[] plain = encoded("gzip", Bodies.chat().getBytes(UTF_8));
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write(plain, 0, 3);
    body.write(2 | 4 | 8 | 16);
    body.write(plain, 4, 6);
    body.write(new byte[] {3, 0, 'x', 'y', 'z', 'n', 'a', 0, 'c', 0, 1, 2});
    body.write(plain, 10, plain.length - 10);
    assertThat(tap("gzip", body.toByteArray(), pieceBytes).tokens()).isEqualTo(3);
  }

  @Test
  void bodyAboveTheDecodedLimit_isNotDecodedFurther() throws IOException {
    byte[] bomb = encoded("gzip", new byte[(int) BodyDecoder.MAX_DECODED_BYTES + 8192]);
    ResponseTap tap = ResponseTap.forHeaders(SSE, "gzip");
    tap.see(ByteBuffer.wrap(bomb), 1);
    assertThat(tap.isSeeing()).isFalse();
  }

  @Test
  void bodyInAnotherEncodingThanDeclared_isNotRead() {
    ResponseTap tap = ResponseTap.forHeaders(SSE, "gzip");
    tap.see(ByteBuffer.wrap("data: {}\n\n".getBytes(UTF_8)), 1);
    assertThat(tap.isSeeing()).isFalse();
    assertThat(ResponseTap.forHeaders(SSE, "br").isSeeing()).isFalse();
    assertThat(ResponseTap.forHeaders(SSE, "gzip, br").isSeeing()).isFalse();
  }
}
