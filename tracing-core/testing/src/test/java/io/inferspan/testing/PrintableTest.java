package io.inferspan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PrintableTest {
  @Test
  void harmlessText_isUnchanged() {
    assertThat(Printable.of("GET /v1/{id} – ü 模型 😀")).isEqualTo("GET /v1/{id} – ü 模型 😀");
  }

  @Test
  void controlCharacters_areEscaped() {
    assertThat(Printable.of("a\u001b[2Jb\u0007\u009b\u007f"))
        .isEqualTo("a\\u001b[2Jb\\u0007\\u009b\\u007f");
    assertThat(Printable.of("a\r\n\tb")).isEqualTo("a\\r\\n\\tb");
    assertThat(Printable.of("a\u202eb\u2028c\ud800d\udb40\udc01"))
        .isEqualTo("a\\u202eb\\u2028c\\ud800d\\u{e0001}");
  }

  @Test
  void longText_isTruncatedBetweenCharacters() {
    assertThat(Printable.of("abcdef", 3)).isEqualTo("abc…");
    assertThat(Printable.of("ab😀cd", 3)).isEqualTo("ab…");
    assertThat(Printable.of("abc", 3)).isEqualTo("abc");
  }

  @Test
  void bytes_areAsciiOrEscaped() {
    byte[] bytes = "a\"\nü".getBytes(StandardCharsets.UTF_8);
    assertThat(Printable.of(bytes, -5, 100)).isEqualTo("a\"\\x0a\\xc3\\xbc");
  }
}
