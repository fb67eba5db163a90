package io.inferspan.testing;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A JUnit Jupiter extension that provides an OpenTelemetry SDK and keeps its spans in memory.
 *
 * <pre>{@code
 * @RegisterExtension final TracingExtension tracing = TracingExtension.create();
 *
 * @Test
 * void request_hasOneSpan() {
 *   serve(tracing.openTelemetry());
 *   SpanTreeAssert.assertThatSpans(tracing.spans()).hasTree("gateway.request [SERVER]");
 * }
 * }</pre>
 *
 * <p>A test that leaves a span open fails, and the message names the open spans. The extension is
 * cleared after each test. It does not use {@code GlobalOpenTelemetry}. Tests that run in parallel
 * need one extension each, in a non-static field.
 */
public final class TracingExtension implements AfterEachCallback {
  private final InMemorySpans memory = new InMemorySpans();
  private final OpenTelemetrySdk openTelemetry;

  private TracingExtension(Builder builder) {
    openTelemetry =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .setClock(builder.clock)
                    .setSampler(builder.sampler)
                    .addSpanProcessor(memory)
                    .build())
            .setPropagators(
                ContextPropagators.create(
                    TextMapPropagator.composite(
                        W3CTraceContextPropagator.getInstance(),
                        W3CBaggagePropagator.getInstance())))
            .build();
  }

  /** Returns an extension that samples all spans and uses the system clock. */
  public static TracingExtension create() {
    return builder().build();
  }

  /** Returns a builder for an extension with other settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builder for {@link TracingExtension}. */
  public static final class Builder {
    private Clock clock = Clock.getDefault();
    private Sampler sampler = Sampler.alwaysOn();

    private Builder() {}

    /** Sets the clock, such as a {@link ManualClock}. */
    public Builder clock(Clock clock) {
      this.clock = clock;
      return this;
    }

    /** Sets the sampler; by default all spans are sampled. */
    public Builder sampler(Sampler sampler) {
      this.sampler = sampler;
      return this;
    }

    /** Builds the extension. */
    public TracingExtension build() {
      return new TracingExtension(this);
    }
  }

  /** Returns the SDK for the code under test, with W3C trace context and baggage propagation. */
  public OpenTelemetry openTelemetry() {
    return openTelemetry;
  }

  /** Returns the sampled spans that have ended, in the order of their ends. */
  public List<SpanRecord> spans() {
    return memory.ended.spans();
  }

  /** Waits until {@code count} spans have ended and returns all; fails after {@code timeout}. */
  public List<SpanRecord> awaitSpans(int count, Duration timeout) {
    return memory.ended.await(count, timeout, () -> "; still open: " + memory.openNames());
  }

  /** Removes all spans, ended or open. */
  public void clear() {
    memory.clear();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    List<String> open = memory.openNames();
    clear();
    if (!open.isEmpty()) {
      throw new AssertionError("the test did not end these spans: " + open);
    }
  }

  /** Stores open and ended spans. */
  private static final class InMemorySpans implements SpanProcessor {
    private final Map<String, ReadableSpan> open = new ConcurrentHashMap<>();
    private final SpanLog ended = new SpanLog();

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
      open.put(span.getSpanContext().getSpanId(), span);
    }

    @Override
    public void onEnd(ReadableSpan span) {
      boolean isOurs = open.remove(span.getSpanContext().getSpanId()) != null;
      // Ignores a span that started before clear().
      if (isOurs && span.getSpanContext().isSampled()) {
        ended.add(List.of(SpanRecord.of(span.toSpanData())));
      }
    }

    @Override
    public boolean isStartRequired() {
      return true;
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }

    List<String> openNames() {
      return open.values().stream().map(span -> Printable.of(span.getName())).sorted().toList();
    }

    void clear() {
      open.clear();
      ended.clear();
    }
  }
}
