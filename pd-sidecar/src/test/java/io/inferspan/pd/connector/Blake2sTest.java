package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class Blake2sTest {

  @ParameterizedTest
  @CsvSource({
    "0, 69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9",
    "63, e57cb79487dd57902432b250733813bd96a84efce59f650fac26e6696aefafc3",
    "64, 56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e",
    "65, 1b53ee94aaf34e4b159d48de352c7f0661d0a40edff95a0b1639b4090e974472",
    "128, 1fa877de67259d19863a2a34bcc6962a2b25fcbf5cbecd7ede8f1fa36688a796",
    "300, 203d6441349213c6b2b727d0ac6beb365f32938cef2cd0677f2a6b7f8cb02dd7"
  })
  void hashes_equalThoseOfAnotherImplementation_aroundBlockBoundaries(int length, String expected) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i % 251);
    }
    assertThat(HexFormat.of().formatHex(Blake2s.hash(bytes))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "abc, 2, 0",
    "abc, 4, 2",
    "abc, 8, 2",
    "abc, 16, 2",
    "cmpl-foo-0, 8, 5",
    "00000000-0000-0000-0000-000000000000, 8, 6",
    "req-9f8a-2026-1p1d, 8, 2",
    "cmpl-deadbeef-cafe-1234, 8, 4",
    "anything, 1, 0"
  })
  void rank_isTheHashOfTheRequestId(String requestId, int ranks, int expected) {
    assertThat(WriteTransfer.rank(requestId, ranks)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"abc, 508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"})
  void hash_equalsTheExampleOfTheRfc(String text, String expected) {
    assertThat(HexFormat.of().formatHex(Blake2s.hash(text.getBytes(UTF_8)))).isEqualTo(expected);
  }
}
