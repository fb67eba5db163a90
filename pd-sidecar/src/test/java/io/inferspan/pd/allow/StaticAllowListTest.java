package io.inferspan.pd.allow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.Logged;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StaticAllowListTest {
  @TempDir Path directory;

  @Test
  void everything_allowsAll() {
    try (AllowList list = AllowList.everything()) {
      assertThat(list.allows("10.1.2.3:80")).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "prefill-0, prefill-0:8000, true",
    "prefill-0, PREFILL-0, true",
    "Prefill-0, http://prefill-0:8000, true",
    "prefill-0, prefill-01, false",
    "prefill-0, prefill-0.evil.example, false",
    "prefill-0, user@prefill-0:80, false",
    "prefill-0, prefill-0@evil.example, false",
    "prefill-0, prefill-0/path, false",
    "prefill-0, prefill-0:80/path, false",
    "prefill-0, https://prefill-0, false",
    "prefill-0, http://http://prefill-0, false",
    "prefill-0, prefill-0:, false",
    "prefill-0, 'prefill-0 ', false",
    "prefill-0, '', false",
    "10.0.0.1, 10.0.0.1:8000, true",
    "10.0.0.1, 10.0.0.1, true",
    "10.0.0.1, [::ffff:10.0.0.1]:8000, true",
    "10.0.0.1, 10.0.0.11, false",
    "10.0.0.1, 10.0.0.1.evil.example:80, false",
    "fd00::1, [fd00:0:0::1]:8000, true",
    "fd00::1, [FD00::0001], true",
    "fd00::1, fd00::1, true",
    "'[fd00::1]', [fd00::1]:80, true",
    "fd00::1, [fd00::2]:8000, false",
    "fd00::1, [fd00::1, false",
    "fd00::1, [fd00::1]x, false",
    "fd00::1, [fd00::1]:8a, false",
    "fd00::1, [fd00::1%lo]:80, false",
    "10.1.0.0/16, 10.1.255.255:1, true",
    "10.1.0.0/16, 10.2.0.0:1, false",
    "10.1.0.0/16, [::ffff:10.1.2.3]:1, true",
    "10.1.0.0/16, host, false",
    "10.0.0.64/26, 10.0.0.127, true",
    "10.0.0.64/26, 10.0.0.128, false",
    "0.0.0.0/0, 1.2.3.4, true",
    "0.0.0.0/0, ::1, false",
    "10.0.0.1/32, 10.0.0.1, true",
    "10.0.0.1/32, 10.0.0.0, false",
    "fd00::/8, [fdff::1]:1, true",
    "fd00::/8, [fe00::1]:1, false",
    "fd00::/8, 10.0.0.1, false"
  })
  void onlyTheHost_decides(String entry, String target, boolean allowed) {
    try (StaticAllowList list = StaticAllowList.of(List.of(entry), null)) {
      assertThat(list.allows(target)).isEqualTo(allowed);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "host:80",
        "10.0.0.0/33",
        "fd00::/129",
        "10.0.0.0/",
        "name/8",
        "a b",
        "http://a",
        "10.0.0.0/-1"
      })
  void invalidEntry_failsWithOneSentence(String entry) {
    assertThatThrownBy(() -> StaticAllowList.of(List.of(entry), null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "'"
                + entry
                + "' in the allow-list setting is not a valid entry; an entry is a host name, an IP"
                + " address or a range such as 10.0.0.0/8, without a port.");
  }

  @Test
  void file_isReadInAdditionToTheSetting() throws Exception {
    Path file = Files.writeString(directory.resolve("allow"), "# ours\n\n 10.0.0.1 # one\nhost\n");
    try (StaticAllowList list = StaticAllowList.of(List.of("set"), file)) {
      assertThat(List.of("set:1", "10.0.0.1:1", "host:1")).allMatch(list::allows);
      assertThat(list.allows("ours")).isFalse();
    }
  }

  @Test
  void changedFile_isReadAgain() throws Exception {
    Path file = Files.writeString(directory.resolve("allow"), "one");
    try (StaticAllowList list = StaticAllowList.of(List.of("set"), file)) {
      Path next = Files.writeString(directory.resolve("next"), "two");
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      Awaited.soon(() -> list.allows("two"));
      assertThat(list.allows("one")).isFalse();
      assertThat(list.allows("set")).isTrue();
    }
  }

  @Test
  void invalidFile_keepsTheOldListAndWarnsOnce() throws Exception {
    Path file = Files.writeString(directory.resolve("allow"), "one");
    try (Logged log = new Logged(StaticAllowList.class);
        StaticAllowList list = StaticAllowList.of(List.of(), file)) {
      Files.writeString(file, "one\ntwo:80");
      Awaited.soon(() -> !log.warnings().isEmpty());
      assertThat(list.allows("one")).isTrue();
      Files.writeString(file, "one\ntwo\nthree");
      Awaited.soon(() -> list.allows("three"));
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .startsWith("'two:80' in " + file)
          .endsWith("The old list stays in use.");
    }
  }

  @Test
  void invalidOrMissingFileAtStart_failsWithOneSentence() throws Exception {
    Path file = directory.resolve("allow");
    assertThatThrownBy(() -> StaticAllowList.of(List.of(), file))
        .hasMessage(
            "The allow-list file "
                + file
                + " cannot be read (NoSuchFileException); it holds one entry per line.");
    Files.writeString(file, "a:1");
    assertThatThrownBy(() -> StaticAllowList.of(List.of(), file))
        .hasMessageStartingWith("'a:1' in " + file);
    assertThat(watchThreads()).isZero();
  }

  @Test
  void closedList_leavesNoThread() throws Exception {
    Path file = Files.writeString(directory.resolve("allow"), "one");
    StaticAllowList list = StaticAllowList.of(List.of(), file);
    assertThat(watchThreads()).isEqualTo(1);
    list.close();
    list.close();
    assertThat(watchThreads()).isZero();
    assertThat(list.allows("one")).isTrue();
  }

  @Test
  void randomText_causesNoException() {
    Random random = new Random(11);
    String alphabet = "[]:./%@-_ 019afAFxhtp";
    try (StaticAllowList list = StaticAllowList.of(List.of("fd00::/8", "10.0.0.0/8"), null)) {
      for (int i = 0; i < 50_000; i++) {
        StringBuilder text = new StringBuilder();
        for (int n = random.nextInt(12); n > 0; n--) {
          text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        assertThatCode(() -> list.allows(text.toString())).doesNotThrowAnyException();
      }
    }
  }

  private static long watchThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("inferspan-pd-allow-list"))
        .count();
  }
}
