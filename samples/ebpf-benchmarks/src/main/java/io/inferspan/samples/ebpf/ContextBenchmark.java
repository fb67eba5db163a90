package io.inferspan.samples.ebpf;

import io.inferspan.ebpf.context.ContextSignal;
import io.inferspan.ebpf.context.OwnThreads;
import io.inferspan.ebpf.context.PublishingContextStorage;
import io.inferspan.ebpf.linux.Threads;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures making a span's context current and resetting it, with and without publishing it to the
 * kernel.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(org.openjdk.jmh.annotations.Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ContextBenchmark {

  private static final int SLOTS = 4_096;
  private static final int SLOT_BYTES = 32;

  /**
   * The context storage: {@code plain} is OpenTelemetry's own, {@code stopped} wraps it without
   * publishing, and {@code published} wraps it and publishes contexts to the kernel.
   */
  @Param({"plain", "stopped", "published"})
  String storage = "";

  private final Context[] many = new Context[64];

  // Created after the storage is wrapped, because even Context.root() initialises it.
  @SuppressWarnings("NullAway.Init")
  private Context sampled;

  @SuppressWarnings("NullAway.Init")
  private Context sampledChild;

  @SuppressWarnings("NullAway.Init")
  private Context unsampled;

  private int next;
  private @Nullable OwnThreads threads;

  private static Context context(String spanId, TraceFlags flags) {
    SpanContext context =
        SpanContext.create(
            "0af7651916cd43dd8448eb211c80319c", spanId, flags, TraceState.getDefault());
    return Context.root().with(Span.wrap(context));
  }

  @Setup
  public void start() {
    require(storage.equals("plain") || PublishingContextStorage.install());
    makeContexts();
    if (storage.equals("published")) {
      observe();
    }
  }

  private void makeContexts() {
    sampled = context("00f067aa0ba902b7", TraceFlags.getSampled());
    sampledChild = context("00f067aa0ba902b8", TraceFlags.getSampled());
    unsampled = context("00f067aa0ba902b9", TraceFlags.getDefault());
    for (int i = 0; i < many.length; i++) {
      many[i] = context("%016x".formatted(i + 1), TraceFlags.getSampled());
    }
  }

  private void observe() {
    OwnThreads observed =
        new OwnThreads(
            ByteBuffer.allocateDirect(SLOTS * SLOT_BYTES),
            new NoTable(),
            Threads::currentTid,
            null,
            new ContextSignal(owner -> {}));
    require(PublishingContextStorage.start(observed));
    threads = observed;
    oneRequest();
    require(observed.registered() == 1);
  }

  private static void require(boolean done) {
    if (!done) {
      throw new IllegalStateException(
          "The context storage does not match the benchmark parameter 'storage'");
    }
  }

  @TearDown
  public void stop() {
    if (threads != null) {
      Objects.requireNonNull(threads).close();
    }
  }

  /** The same request each time. */
  @Benchmark
  public void oneRequest() {
    try (Scope scope = sampled.makeCurrent()) {
      // Only the switch of the context is measured.
    }
  }

  /** A different request each time, as on an event loop. */
  @Benchmark
  public void manyRequests() {
    try (Scope scope = many[next++ & 63].makeCurrent()) {
      // Only the switch of the context is measured.
    }
  }

  /** A span within a span. */
  @Benchmark
  public void nested() {
    try (Scope outer = sampled.makeCurrent();
        Scope inner = sampledChild.makeCurrent()) {
      // Only the switch of the context is measured.
    }
  }

  @Benchmark
  public void unsampled() {
    try (Scope scope = unsampled.makeCurrent()) {
      // Only the switch of the context is measured.
    }
  }

  private static final class NoTable implements OwnThreads.KernelThreads {
    @Override
    public void put(int tid, int slotPlusOne) {}

    @Override
    public void remove(int tid) {}
  }
}
