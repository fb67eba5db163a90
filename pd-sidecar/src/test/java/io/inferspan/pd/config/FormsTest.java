package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FormsTest {

  @ParameterizedTest
  @CsvSource({"0, 0", "65536, 65536", "64KiB, 65536", "64MiB, 67108864", "1 GiB, 1073741824"})
  void size_isRead(String text, long bytes) {
    assertThat(GoWords.bytes(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "KiB", "64MB", "64mib", "1.5MiB", "9999999999999GiB", "MiB64"})
  void otherSize_isRefused(String text) {
    assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> GoWords.bytes(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "prefill",
        "a.b-c.svc.cluster.local",
        "a.b.",
        "10.0.0.1",
        "::1",
        "fd00::7",
        "10.0.0.0/8",
        "fd00::/64",
        "0.0.0.0/0",
        "pod_1",
        "1.2.3.4.example"
      })
  void hostNameAddressAndCidr_areEntries(String text) {
    assertThat(HostText.isEntry(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "a:80", "10.0.0.1:80", "[::1]", "http://a", "a/8", "10.0.0.0/33", "::/129", "10.0.0.0/",
        "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0", "10.0.0.256", "a..b", ".a", "a b", "*.a",
            "1::2::3",
        "é", "a@b"
      })
  void otherText_isNotAnEntry(String text) {
    assertThat(HostText.isEntry(text)).isFalse();
  }

  @Test
  void tooLongName_isNotAnEntry() {
    assertThat(HostText.isEntry("a".repeat(64))).isFalse();
    assertThat(HostText.isEntry("a.".repeat(127))).isFalse();
  }

  @Test
  void emptyPartsOfAList_areDropped() {
    assertThat(GoWords.list(" a,,b , c,")).containsExactly("a", "b", "c");
    assertThat(GoWords.list("")).isEmpty();
  }

  @Test
  void quotedText_isTruncated_andOnOneLine() {
    assertThat(ConfigException.quoted("a\nb\u2028c")).isEqualTo("\"a?b?c\"");
    assertThat(ConfigException.quoted("x".repeat(1000))).hasSize(83);
  }
}
