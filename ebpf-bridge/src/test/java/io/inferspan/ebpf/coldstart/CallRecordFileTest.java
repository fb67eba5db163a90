package io.inferspan.ebpf.coldstart;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.flame.StackFormatException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of calls, written from the description of the format. */
class CallRecordFileTest {

  private static final String LINE =
      "{\"timestamp_ns\":%s,\"pid\":%s,\"tid\":%s,\"syscall_nr\":%s,\"kind\":%s,\"ret\":%s}\n";

  @Test
  void recordsWrittenAgain_areTheSameBytes() throws IOException {
    Random random = new Random(7);
    List<String> lines = new ArrayList<>();
    long[] calls = {0, 3, 9, 257, 1000, 1003, 1004, 1108, 999_999, 0xffff_ffffL};
    for (int i = 0; i < 20_000; i++) {
      int exit = random.nextInt(2);
      lines.add(
          LINE.formatted(
              Long.toUnsignedString(random.nextLong() >>> random.nextInt(64)),
              Integer.toUnsignedString(random.nextInt()),
              random.nextInt(1 << 22),
              calls[random.nextInt(calls.length)],
              exit,
              exit == 0 ? 0 : random.nextLong() >> random.nextInt(64)));
    }
    lines.add(LINE.formatted("18446744073709551615", 0, 0, 0, 1, Long.MIN_VALUE));
    lines.addAll(Collections.nCopies(3, lines.getFirst())); // entries or exits without a partner
    String text = String.join("", lines);

    ByteArrayOutputStream written = new ByteArrayOutputStream();
    CallRecordFile.write(read(text), written);

    assertThat(written.toString(UTF_8)).isEqualTo(text);
  }

  @Test
  void fields_areRead() throws IOException {
    assertThat(read(LINE.formatted(12, 3, 4, 257, 1, -2)))
        .containsExactly(new CallRecord(12, 3, 4, 257, true, -2));
    assertThat(read("")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '\0',
      delimiter = '|',
      textBlock =
          """
          []                                                        | 1 | expected {"timestamp_ns":
          {"timestamp_ns": 1                                        | 17 | expected a whole number
          {"timestamp_ns":1,"tid":1                                 | 20 | expected pid":
          {"timestamp_ns":01                                        | 17 | expected a whole number
          {"timestamp_ns":1.5                                       | 18 | expected ,"pid":
          {"timestamp_ns":18446744073709551616,                     | 17 | expected a number of at most 64
          {"timestamp_ns":1,"pid":4294967296,                       | 25 | expected a number of at most 32
          {"timestamp_ns":1,"pid":1,"tid":-1                        | 33 | expected a whole number
          {"timestamp_ns":1,"pid":1,"tid":1,"syscall_nr":0,"kind":2 | 57 | expected a number of at most 1
          """)
  void malformedText_isRefusedWithLineAndColumn(String line, int column, String sentence) {
    String text = LINE.formatted(1, 2, 3, 0, 0, 0) + line + "\n";

    assertThatThrownBy(() -> read(text))
        .isInstanceOf(StackFormatException.class)
        .hasMessageStartingWith("line 2, column " + column + ": " + sentence);
  }

  @Test
  void textThatWouldNotBeReproduced_isRefused() {
    String line = LINE.formatted(1, 2, 3, 0, 0, 0);

    for (String text :
        List.of(
            line.stripTrailing(),
            line.replace("\n", "\r\n"),
            line.replace(",\"pid\"", ", \"pid\""),
            line.replace("\"ret\":0", "\"ret\":-0"),
            line.replace("}", ",\"cpu\":1}"),
            line + "\n")) {
      assertThatThrownBy(() -> read(text)).isInstanceOf(StackFormatException.class);
    }
  }

  private static List<CallRecord> read(String text) throws IOException {
    return CallRecordFile.read(new ByteArrayInputStream(text.getBytes(UTF_8)));
  }
}
