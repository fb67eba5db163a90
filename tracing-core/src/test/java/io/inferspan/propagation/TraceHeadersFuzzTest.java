package io.inferspan.propagation;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TestOptions;
import io.inferspan.catalog.GatewaySpans;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A million requests with broken headers: none throws, and each sends one valid traceparent. */
class TraceHeadersFuzzTest {

  private static final int INPUTS = 400_000;
  private static final int HUGE_EVERY = 20_000;
  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[0-3]");
  private static final Pattern TRACESTATE = Pattern.compile("[ -~]{1,8192}");
  private static final Pattern CONTROL = Pattern.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f]");

  @ParameterizedTest
  @CsvSource({"always_on, 1", "parentbased_always_off, 2", "disabled, 3"})
  void brokenHeaders_neverThrow_andOneValidTraceparentIsSent(String sampler, long seed) {
    Random random = new Random(seed);
    HeaderFuzz fuzz = new HeaderFuzz(random);
    boolean disabled = sampler.equals("disabled");
    try (Telemetry telemetry = telemetry(sampler, disabled)) {
      for (int i = 0; i < INPUTS; i++) {
        Map<String, String> headers = headers(fuzz, random);
        if (i % HUGE_EVERY == 0) {
          headers.replaceAll((name, value) -> value.repeat(1 + 200_000 / (value.length() + 1)));
        }
        String described = headers.toString();
        boolean names = relay(telemetry, headers);
        check(headers, names || !disabled, described);
      }
    }
  }

  private static Telemetry telemetry(String sampler, boolean disabled) {
    return Telemetry.initTracing(
        TestOptions.exportingNowhere()
            .setting("otel.sdk.disabled", Boolean.toString(disabled))
            .setting("otel.traces.sampler", disabled ? "always_on" : sampler)
            .build());
  }

  private static Map<String, String> headers(HeaderFuzz fuzz, Random random) {
    Map<String, String> headers = new HashMap<>();
    headers.put(anyCase("traceparent", random), fuzz.traceparent());
    if (random.nextBoolean()) {
      headers.put(anyCase("tracestate", random), fuzz.tracestate());
    }
    if (random.nextBoolean()) {
      headers.put(anyCase("baggage", random), fuzz.baggage());
    }
    return headers;
  }

  private static String anyCase(String name, Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> name.toUpperCase(Locale.ROOT);
      case 1 -> name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
      default -> name;
    };
  }

  /** Serves a request as a gateway does; returns whether its headers contained a valid parent. */
  private static boolean relay(Telemetry telemetry, Map<String, String> headers) {
    Context parent = telemetry.extract(headers, HEADERS);
    headers.keySet().removeIf(name -> TraceHeaders.NAMES.contains(name.toLowerCase(Locale.ROOT)));
    OperationSpan request = telemetry.span(GatewaySpans.REQUEST, parent).start();
    telemetry.inject(request, headers, HEADERS);
    request.close();
    return Span.fromContext(parent).getSpanContext().isValid();
  }

  private static void check(Map<String, String> headers, boolean traced, String described) {
    String traceparent = headers.get("traceparent");
    if (traced ? traceparent == null : traceparent != null) {
      throw new AssertionError("traceparent " + traceparent + " after " + described);
    }
    checkForm(TRACEPARENT, traceparent, described);
    checkForm(TRACESTATE, headers.get("tracestate"), described);
    String baggage = headers.get("baggage");
    // A value that HTTP cannot transport may be forwarded unchanged.
    if (baggage != null && !CONTROL.matcher(described).find()) {
      assertThat(CONTROL.matcher(baggage).find()).describedAs(baggage).isFalse();
    }
    if (headers.size() > 3) {
      throw new AssertionError("sent " + headers + " after " + described);
    }
  }

  private static void checkForm(Pattern form, @Nullable String value, String described) {
    if (value != null && !form.matcher(value).matches()) {
      throw new AssertionError("sent '" + value + "' after " + described);
    }
  }
}
