package io.inferspan.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonScannerTest {

  private static final int COUNT = NodeType.COUNT | 1;

  @ParameterizedTest
  @CsvSource({"7, true", "8, true", "9, false", "40, false"})
  void levelsBeyondTheEighth_areSkipped_andTheNextDocumentIsRead(int levels, boolean reported) {
    Grammar grammar =
        new Grammar().put(NodeType.ROOT, NodeType.ROOT, "a").put(NodeType.ROOT, COUNT, "n");
    String deep = "{\"a\":".repeat(levels - 1) + "{\"n\":1" + "}".repeat(levels);

    assertThat(counts(grammar, deep + "{\"n\":2}"))
        .isEqualTo(reported ? List.of(1L, 2L) : List.of(2L));
  }

  private static List<Long> counts(Grammar grammar, String documents) {
    List<Long> counts = new ArrayList<>();
    JsonSink sink =
        new JsonSink() {
          @Override
          public void count(int node, long count, long nowNanos) {
            counts.add(count);
          }
        };
    byte[] bytes = documents.getBytes(UTF_8);
    JsonScanner scanner = new JsonScanner(grammar, sink);
    for (int at = 0; at < bytes.length; at++) {
      at = scanner.scan(ByteBuffer.wrap(bytes), at, bytes.length, 0);
    }
    return counts;
  }
}
