package io.inferspan.testing;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CanaryTest {
  private final Canary canary = Canary.random();
  private final String marker = canary.marker();

  private void assertFound(byte[] place, String form) {
    assertThatThrownBy(() -> canary.assertAbsentFrom(place))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(" as " + form + ": ");
  }

  private void assertNotFound(byte[] place) {
    assertThatCode(() -> canary.assertAbsentFrom(place)).doesNotThrowAnyException();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void markers_differ() {
    assertThat(Canary.random().marker()).isNotEqualTo(marker).matches("[a-z0-9]{36}");
  }

  @Test
  void plantedTexts_areAllFound() {
    assertThat(canary.planted()).hasSizeGreaterThanOrEqualTo(4).doesNotHaveDuplicates();
    canary.planted().forEach(text -> assertFound(bytes("before " + text + " after"), "UTF-8"));
  }

  @Test
  void otherText_isNotFound() {
    assertNotFound(new byte[0]);
    assertNotFound(bytes("nothing to see " + Canary.random().marker()));
    Random random = new Random(1);
    byte[] noise = new byte[2_000_000];
    random.nextBytes(noise);
    assertNotFound(noise);
    assertNotFound(bytes(Base64.getEncoder().encodeToString(noise)));
  }

  @Test
  void twelveCharacters_areALeak_butElevenAreNot() {
    for (int i = 0; i + 12 <= marker.length(); i++) {
      assertFound(bytes("…" + marker.substring(i, i + 12) + "…"), "UTF-8");
      assertFound(bytes(marker.substring(i, i + 12).toUpperCase(Locale.ROOT)), "UTF-8");
      assertNotFound(bytes("…" + marker.substring(i, i + 11) + "…"));
    }
    assertFound(bytes(marker.substring(marker.length() - 12)), "UTF-8");
  }

  @Test
  void letterCase_doesNotMatter() {
    String mixed = marker.substring(0, 18).toUpperCase(Locale.ROOT) + marker.substring(18);
    assertFound(bytes(mixed), "UTF-8");
    assertFound(bytes(HexFormat.of().formatHex(bytes(mixed))), "hex");
    assertFound(bytes(Base64.getEncoder().encodeToString(bytes(mixed))), "base64");
  }

  @Test
  void base64_isFoundAtEveryAlignment_inBothAlphabets() {
    for (String before : List.of("", "x", "xy", "xyz", "xyz?>")) {
      byte[] secret = bytes(before + marker + "~~~");
      for (String outside : List.of("", "1", "12", "123")) {
        assertFound(bytes(outside + Base64.getEncoder().encodeToString(secret)), "base64");
        assertFound(bytes(outside + Base64.getUrlEncoder().encodeToString(secret)), "base64");
        assertFound(bytes(outside + Base64.getMimeEncoder().encodeToString(secret)), "base64");
      }
    }
  }

  @Test
  void truncatedBase64_isFound() {
    byte[] secret = bytes(marker.substring(0, 12));
    assertFound(bytes(Base64.getEncoder().withoutPadding().encodeToString(secret)), "base64");
    byte[] shifted = bytes("xy" + marker.substring(0, 12));
    String cut = Base64.getEncoder().withoutPadding().encodeToString(shifted);
    assertFound(bytes(cut), "base64");
    assertNotFound(bytes(cut.substring(0, cut.length() - 2)));
  }

  @Test
  void hex_isFoundAtEveryAlignment_inAnyCase() {
    for (String before : List.of("", "a", "ab", " ")) {
      assertFound(bytes(before + HexFormat.of().formatHex(bytes(marker))), "hex");
      assertFound(bytes(before + HexFormat.of().withUpperCase().formatHex(bytes(marker))), "hex");
    }
  }

  @Test
  void fullAndPartialPercentEncoding_isFound() {
    String all = HexFormat.of().withPrefix("%").formatHex(bytes(marker));
    assertFound(bytes("q=" + all), "percent-encoded");
    assertFound(bytes("q=%" + all + "%4"), "percent-encoded");
    String some = marker.substring(0, 6) + "%" + hex(marker.charAt(6)) + marker.substring(7, 14);
    assertFound(bytes(some), "percent-encoded");
  }

  private static String hex(char c) {
    return HexFormat.of().toHexDigits((byte) c);
  }

  @Test
  void utf16_isFoundAtEitherAlignment() {
    assertFound(marker.getBytes(UTF_16LE), "UTF-16LE");
    assertFound(bytes("x" + new String(marker.getBytes(UTF_16LE), UTF_8)), "UTF-16LE");
    assertFound(marker.getBytes(UTF_16BE), "UTF-16LE");
  }

  @Test
  void message_reportsPositionAndSurroundingBytes() {
    byte[] clean = bytes("clean");
    byte[] dirty = bytes("0123456789\u0001\n" + marker + " and a lot of text after it, many bytes");
    assertThatThrownBy(() -> canary.assertAbsentFrom(List.of(clean, dirty)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("the canary " + marker + " leaked:")
        .hasMessageContaining("array 1 (of " + dirty.length + " bytes), at byte 12 as UTF-8: ")
        .hasMessageContaining("\"23456789\\x01\\x0a" + marker.substring(0, 30) + "\"");
  }

  @Test
  void positionOfEncodedText_isItsOriginalPosition() {
    String base64 = Base64.getEncoder().encodeToString(bytes(marker));
    assertThatThrownBy(() -> canary.assertAbsentFrom(bytes("!".repeat(50) + base64)))
        .hasMessageContaining("at byte 50 as base64");
    String hex = HexFormat.of().formatHex(bytes(marker));
    assertThatThrownBy(() -> canary.assertAbsentFrom(bytes("!".repeat(51) + hex)))
        .hasMessageContaining("at byte 51 as hex");
    String percent = "%41%41" + HexFormat.of().withPrefix("%").formatHex(bytes(marker));
    assertThatThrownBy(() -> canary.assertAbsentFrom(bytes(percent)))
        .hasMessageContaining("at byte 6 as percent-encoded");
  }
}
