package io.inferspan.propagation;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Compares our reader and writer with OpenTelemetry's.
 *
 * <p>They agree, with these intended differences:
 *
 * <ul>
 *   <li>of the eight flags, only the two defined ones are kept (W3C level 2, 3.2.2.5.2);
 *   <li>a {@code tracestate} above the length limit is dropped as a whole;
 *   <li>characters that no HTTP header can contain, such as a line break, count as white space in
 *       some places where OpenTelemetry rejects them.
 * </ul>
 */
class TraceHeadersDifferentialTest {

  private static final long SEED = 20_260_101L;
  private static final int INPUTS = 200_000;
  private static final int KNOWN_FLAGS = 0x03;
  private static final Pattern NOT_IN_HEADERS = Pattern.compile("[^\\t -~\u0080-\u00ff]");

  private final W3CTraceContextPropagator theirs = W3CTraceContextPropagator.getInstance();
  private final TraceHeaders ours = Objects.requireNonNull(TraceHeaders.of(theirs));
  private final HeaderFuzz fuzz = new HeaderFuzz(new Random(SEED));

  @Test
  void traceparent_isReadAsByTheSdk() {
    int valid = 0;
    for (int i = 0; i < INPUTS; i++) {
      Map<String, String> in = Map.of("traceparent", fuzz.traceparent());
      SpanContext own = ours.readParent(in, HEADERS);
      SpanContext other = contextOf(theirs.extract(Context.root(), in, HEADERS));

      assertThat(own != null).describedAs("%s", in).isEqualTo(other.isValid());
      if (own != null) {
        valid++;
        assertThat(own.getTraceId()).describedAs("%s", in).isEqualTo(other.getTraceId());
        assertThat(own.getSpanId()).describedAs("%s", in).isEqualTo(other.getSpanId());
        assertThat(own.isRemote()).isTrue();
        assertThat(own.getTraceFlags().asByte())
            .describedAs("%s", in)
            .isEqualTo((byte) (other.getTraceFlags().asByte() & KNOWN_FLAGS));
      }
    }
    // The inputs must cause both outcomes.
    assertThat(valid).isBetween(INPUTS / 10, INPUTS * 9 / 10);
  }

  @Test
  void tracestate_isReadAsByTheSdk() {
    int kept = 0;
    for (int i = 0; i < INPUTS / 4; i++) {
      String tracestate = NOT_IN_HEADERS.matcher(fuzz.tracestate()).replaceAll("?");
      if (tracestate.length() > TracestateHeader.MAX_CHARS) {
        continue;
      }
      Map<String, String> in =
          Map.of("traceparent", HeaderFuzz.VALID_TRACEPARENT, "tracestate", tracestate);
      SpanContext own = Objects.requireNonNull(ours.readParent(in, HEADERS));
      SpanContext other = contextOf(theirs.extract(Context.root(), in, HEADERS));

      kept += own.getTraceState().isEmpty() ? 0 : 1;
      assertThat(own.getTraceState().asMap())
          .describedAs("%s", tracestate)
          .isEqualTo(other.getTraceState().asMap());
    }
    assertThat(kept).isBetween(INPUTS / 40, INPUTS / 4);
  }

  @Test
  void bothWriteTheSameHeaders() {
    for (int i = 0; i < INPUTS / 10; i++) {
      Map<String, String> in =
          Map.of("traceparent", fuzz.validTraceparent(), "tracestate", fuzz.validTracestate());
      SpanContext parent = Objects.requireNonNull(ours.readParent(in, HEADERS));
      Context context = Context.root().with(Span.wrap(parent));
      Map<String, String> own = new HashMap<>();
      Map<String, String> other = new HashMap<>();
      ours.write(parent, context, own, HEADERS);
      theirs.inject(context, other, HEADERS);

      assertThat(own).describedAs("%s", in).isEqualTo(other);
    }
  }

  @Test
  void knownVectors_areReadAsByTheSdk() {
    String ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
    for (String traceparent :
        List.of(
            "00-" + ids + "-01",
            "00-" + ids + "-00",
            "00-" + ids + "-01-x",
            "01-" + ids + "-01-x",
            "01-" + ids + "-01x",
            "ff-" + ids + "-01",
            "fe-" + ids + "-ff")) {
      Map<String, String> in = Map.of("traceparent", traceparent);

      assertThat(ours.readParent(in, HEADERS) != null)
          .describedAs(traceparent)
          .isEqualTo(contextOf(theirs.extract(Context.root(), in, HEADERS)).isValid());
    }
  }

  private static SpanContext contextOf(Context context) {
    return Span.fromContext(context).getSpanContext();
  }
}
