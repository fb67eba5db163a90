package io.inferspan.samples.kvcache;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.kvcache.KvCacheTracing;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Measures lookups of 200 blocks in an in-memory index, with and without a span, in turns.
 *
 * <p>The expected difference of a few percent is smaller than the variation between two runs.
 * Therefore the lookups take turns in one process, forwards and backwards, and the result is the
 * median of the ratios of all rounds.
 *
 * <p>The spans of a turn fit into the span processor's queue and are exported before the next turn,
 * because dropped spans would be cheaper than exported ones. The first lookups of a turn are not
 * timed, because the previous turn and the export have displaced their data from the processor's
 * caches.
 *
 * <p>The lookup without tracing takes part twice; the ratio of the two shows the noise.
 */
public final class LookupTurns {

  private static final int BLOCKS = 200;
  private static final int LOOKUPS = 400;
  private static final int LOOKUPS_BEFORE = 100;
  private static final int WARM_UP = 50;
  private static final int ROUNDS = 300;
  private static final Duration FLUSH_LIMIT = Duration.ofSeconds(10);

  /** The lookups that take turns. */
  enum Kind {
    WITHOUT,
    AGAIN,
    UNSAMPLED,
    SAMPLED,
    BY_HAND
  }

  private final Map<Kind, double[]> nanos = new EnumMap<>(Kind.class);
  private final Map<Kind, Subject> subjects = new EnumMap<>(Kind.class);
  private final long[] prompt = Prompts.of(1, BLOCKS)[0];
  private final BlockHits hits = new BlockHits();

  private final BooleanSupplier flushed;

  private record Subject(BlockIndex index, Context context) {}

  private LookupTurns(BlockIndex plain, Telemetry telemetry, SdkTracerProvider provider) {
    Tracer sdk = provider.get("by hand");
    flushed =
        () ->
            telemetry.flush(FLUSH_LIMIT)
                && provider
                    .forceFlush()
                    .join(FLUSH_LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .isSuccess();
    BlockIndex traced = KvCacheTracing.create(telemetry).traced(plain);
    Context unsampled = scoring(telemetry, TraceFlags.getDefault());
    Context parent = trace(TraceFlags.getSampled());
    Span scoring = sdk.spanBuilder("llm_d.kv_cache.get_scores").setParent(parent).startSpan();
    subjects.put(Kind.WITHOUT, new Subject(plain, unsampled));
    subjects.put(Kind.AGAIN, new Subject(plain, unsampled));
    subjects.put(Kind.UNSAMPLED, new Subject(traced, unsampled));
    subjects.put(Kind.SAMPLED, new Subject(traced, scoring(telemetry, TraceFlags.getSampled())));
    subjects.put(Kind.BY_HAND, new Subject(new HandTracedIndex(plain, sdk), parent.with(scoring)));
    for (Kind kind : Kind.values()) {
      nanos.put(kind, new double[ROUNDS]);
    }
    Prompts.addByPod(plain, prompt);
  }

  /** Runs the turns, and prints the name, nanoseconds and ratio of each kind. */
  public static void main(String[] args) {
    LookupTurns turns = measured();
    for (Kind kind : Kind.values()) {
      System.out.println(kind + " " + median(turns.nanos(kind)) + " " + turns.ratio(kind));
    }
  }

  private static LookupTurns measured() {
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder()
                .setting("otel.traces.exporter", DiscardingExporterProvider.NAME)
                .build());
    MemoryBlockIndex plain = MemoryBlockIndex.builder().podCacheSize(Prompts.PODS).build();
    try (SdkTracerProvider sdk =
        SdkTracerProvider.builder()
            .addSpanProcessor(BatchSpanProcessor.builder(SpanExporter.composite()).build())
            .build()) {
      LookupTurns turns = new LookupTurns(plain, telemetry, sdk);
      turns.takeTurns();
      return turns;
    } finally {
      plain.close();
      telemetry.close();
    }
  }

  /** Returns the context of a lookup: the span of scoring a request's pods. */
  private static Context scoring(Telemetry telemetry, TraceFlags flags) {
    return telemetry.span(KvCacheSpans.GET_SCORES, trace(flags)).start().context();
  }

  private static Context trace(TraceFlags flags) {
    return Context.root()
        .with(
            Span.wrap(
                SpanContext.createFromRemoteParent(
                    "0af7651916cd43dd8448eb211c80319c",
                    "b7ad6b7169203331",
                    flags,
                    TraceState.getDefault())));
  }

  private void takeTurns() {
    List<Kind> order = Arrays.asList(Kind.values());
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      Map<Kind, Double> now = new EnumMap<>(Kind.class);
      for (int direction = 0; direction < 2; direction++) {
        order.forEach(kind -> now.merge(kind, perLookup(kind) / 2, Double::sum));
        Collections.reverse(order);
      }
      if (round >= 0) {
        int index = round;
        now.forEach((kind, each) -> nanos(kind)[index] = each);
      }
    }
  }

  private double perLookup(Kind kind) {
    Subject subject = Objects.requireNonNull(subjects.get(kind));
    lookUp(subject, LOOKUPS_BEFORE);
    long start = System.nanoTime();
    lookUp(subject, LOOKUPS);
    long passed = System.nanoTime() - start;
    if (hits.at(BLOCKS - 1).length != Prompts.PODS) {
      throw new IllegalStateException("Not all blocks are found");
    }
    if (!flushed.getAsBoolean()) {
      throw new IllegalStateException("The spans were not exported in time");
    }
    return (double) passed / LOOKUPS;
  }

  private void lookUp(Subject subject, int times) {
    for (int i = 0; i < times; i++) {
      subject.index.lookup(prompt, Set.of(), hits, subject.context);
    }
  }

  private double[] nanos(Kind kind) {
    return Objects.requireNonNull(nanos.get(kind));
  }

  /** Returns the time of a lookup of this kind, relative to a lookup without tracing. */
  private double ratio(Kind kind) {
    double[] ratios = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      ratios[round] = nanos(kind)[round] / nanos(Kind.WITHOUT)[round];
    }
    return median(ratios);
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
