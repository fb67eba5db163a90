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
import io.opentelemetry.context.Context;
import java.util.Arrays;
import java.util.Set;

/**
 * What tracing adds to a lookup of 200 blocks in memory.
 *
 * <p>A few per cent are less than what two runs differ by. So the lookups take turns in one
 * process, a few milliseconds each, there and back again, and what counts is the median of the
 * ratios of neighbours.
 *
 * @param unsampled time of a lookup in an unsampled trace, of one without tracing
 * @param sampled the same in a sampled trace
 */
record TracingOverhead(double unsampled, double sampled) {

  private static final int BLOCKS = 200;
  private static final int LOOKUPS = 1_000;
  private static final int WARM_UP = 50;
  private static final int ROUNDS = 300;

  static TracingOverhead measure() {
    Telemetry telemetry =
        Telemetry.initTracing(
            TelemetryOptions.builder()
                .setting("otel.traces.exporter", DiscardingExporterProvider.NAME)
                .build());
    MemoryBlockIndex plain = MemoryBlockIndex.builder().podCacheSize(Prompts.PODS).build();
    try {
      return new Turns(plain, KvCacheTracing.with(telemetry), telemetry).measure();
    } finally {
      plain.close();
      telemetry.close();
    }
  }

  /** Where a lookup belongs: within the scoring of a request's pods. */
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

  /** The three lookups, in turns. */
  private static final class Turns {

    private final Context unsampled;
    private final Context sampled;
    private final long[] prompt = Prompts.of(1, BLOCKS)[0];
    private final BlockHits hits = new BlockHits();
    private final BlockIndex plain;
    private final BlockIndex traced;

    Turns(BlockIndex plain, KvCacheTracing tracing, Telemetry telemetry) {
      this.unsampled = scoring(telemetry, TraceFlags.getDefault());
      this.sampled = scoring(telemetry, TraceFlags.getSampled());
      this.plain = plain;
      this.traced = tracing.traced(plain);
      Prompts.addByPod(plain, prompt);
    }

    TracingOverhead measure() {
      double[] unsampledRatios = new double[ROUNDS];
      double[] sampledRatios = new double[ROUNDS];
      for (int round = -WARM_UP; round < ROUNDS; round++) {
        long without = nanos(plain, unsampled);
        long unrecorded = nanos(traced, unsampled);
        long recorded = nanos(traced, sampled);
        recorded += nanos(traced, sampled);
        unrecorded += nanos(traced, unsampled);
        without += nanos(plain, unsampled);
        if (round >= 0) {
          unsampledRatios[round] = (double) unrecorded / without;
          sampledRatios[round] = (double) recorded / without;
        }
      }
      return new TracingOverhead(median(unsampledRatios), median(sampledRatios));
    }

    private long nanos(BlockIndex index, Context context) {
      long start = System.nanoTime();
      for (int i = 0; i < LOOKUPS; i++) {
        index.lookup(prompt, Set.of(), hits, context);
      }
      long nanos = System.nanoTime() - start;
      if (hits.at(BLOCKS - 1).length != Prompts.PODS) {
        throw new IllegalStateException("Not all blocks are found");
      }
      return nanos;
    }
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
