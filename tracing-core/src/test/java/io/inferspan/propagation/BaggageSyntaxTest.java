package io.inferspan.propagation;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Warnings;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.context.Context;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BaggageSyntaxTest {

  private static final String SIGNS = "ab1=,;%20 \"\\\t{}()é\u0001@/:<>?[]";

  private final TraceHeaders headers =
      Objects.requireNonNull(TraceHeaders.of(W3CBaggagePropagator.getInstance()));

  private Baggage read(String header) {
    Map<String, String> carrier = Map.of("baggage", header);
    return Baggage.fromContext(headers.readBaggage(Context.root(), carrier, HEADERS));
  }

  @Test
  void wellFormedHeader_isRead() {
    assertThat(read("user=a%20b;p=1, tier=gold").getEntryValue("user")).isEqualTo("a b");
    assertThat(read("user=a%20b;p=1, tier=gold").getEntryValue("tier")).isEqualTo("gold");
  }

  @Test
  void malformedHeader_logsNothing() {
    Random random = new Random(7);
    try (Warnings logged = Warnings.collectFrom("io.opentelemetry")) {
      for (int i = 0; i < 100_000; i++) {
        StringBuilder header = new StringBuilder("k=");
        random
            .ints(1 + random.nextInt(12), 0, SIGNS.length())
            .forEach(sign -> header.append(SIGNS.charAt(sign)));
        read(header.toString());
      }

      assertThat(logged.sentences()).isEmpty();
    }
  }
}
