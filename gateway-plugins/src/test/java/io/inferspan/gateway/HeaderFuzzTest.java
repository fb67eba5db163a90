package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.propagation.TextMapSetter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A hundred thousand header sets that no client would send. */
final class HeaderFuzzTest {

  private static final int SETS = 100_000;
  private static final long SEED = 4_711;
  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final List<String> NAMES =
      List.of(
          "traceparent",
          "tracestate",
          "baggage",
          "x-request-id",
          "x-llm-d-inference-fairness-id",
          "x-gateway-inference-fairness-id");

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Random random = new Random(SEED);

  private String value() {
    char[] value =
        switch (random.nextInt(4)) {
          case 0 -> TRACE.toCharArray();
          case 1 -> "k=v,tenant@vendor=1;p=q".toCharArray();
          case 2 -> new char[random.nextInt(700)];
          default -> "plain-id".toCharArray();
        };
    for (int i = random.nextInt(4); i > 0 && value.length > 0; i--) {
      value[random.nextInt(value.length)] =
          (char) random.nextInt(random.nextBoolean() ? 128 : 0x10000);
    }
    return new String(value);
  }

  private TestExchange mutated() {
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (String name : NAMES) {
      for (int i = random.nextInt(3); i > 0; i--) {
        headers.computeIfAbsent(name, any -> new ArrayList<>()).add(value());
      }
    }
    return new TestExchange(value(), value(), headers);
  }

  @Test
  void mutatedHeaders_breakNothingAndSendOneTraceparent() {
    GatewayTracing gateway = GatewayTracing.create(Telemetry.using(tracing.openTelemetry()));
    TextMapSetter<Map<String, String>> setter = HeaderFuzzTest::put;
    for (int i = 0; i < SETS; i++) {
      Map<String, String> sent = new LinkedHashMap<>();
      GatewayRequest request = gateway.begin(mutated());
      UpstreamAttempt attempt = request.attempt(value());
      attempt.inject(sent, setter);
      attempt.responseHead(random.nextInt(1000), value(), value());
      request.end();
      assertThat(sent.get("traceparent"))
          .as("seed %d, set %d", SEED, i)
          .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]");
      if (i % 1000 == 0) {
        tracing.spans().forEach(HeaderFuzzTest::assertShort);
        tracing.clear();
      }
    }
  }

  private static void put(@Nullable Map<String, String> headers, String name, String value) {
    if (headers != null) {
      headers.put(name, value);
    }
  }

  private static void assertShort(SpanRecord span) {
    span.attributes()
        .forEach((key, value) -> assertThat(value.toString()).as(key).hasSizeLessThan(300));
  }
}
