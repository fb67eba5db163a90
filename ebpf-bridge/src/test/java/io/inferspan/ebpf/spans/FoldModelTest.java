package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.catalog.SpanCatalog;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the spans of random events with a model: every event is in exactly one span. */
class FoldModelTest {

  private static final List<Kind> KINDS =
      List.of(
          Kind.CUDA_LAUNCH,
          Kind.CUDA_MEMCPY_D2H,
          Kind.SYSCALL_READ,
          Kind.SYSCALL_OPENAT,
          Kind.SCHED_OFFCPU,
          Kind.CKP_OPERATION);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Map<String, long[]> model = new TreeMap<>();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void countsAndSums_areExactWithEvictionsAndLateEvents(long seed) {
    Random random = new Random(seed);
    FakeKernel kernel = new FakeKernel(tracing, options(random));
    for (int i = 0; i < 20_000; i++) {
      step(kernel, random);
    }
    kernel.sink.flush();

    Map<String, long[]> written = new TreeMap<>();
    for (SpanRecord span : tracing.spans()) {
      add(written, span);
    }
    assertThat(written.keySet()).isEqualTo(model.keySet());
    model.forEach((key, sums) -> assertThat(written.get(key)).as(key).isEqualTo(sums));
    SpanAccounting counts = kernel.sink.accounting();
    EventSinkTest.assertBalance(counts);
    assertThat(counts.held()).isZero();
    assertThat(counts.dropped()).isZero();
    assertThat(counts.emitted() + counts.folded())
        .isEqualTo(model.values().stream().mapToLong(sums -> sums[0]).sum());
    assertThat(kernel.sink.openRequests()).isZero();
  }

  private static FoldOptions options(Random random) {
    return new FoldOptions(
        1_000L << random.nextInt(12),
        random.nextInt(5),
        random.nextBoolean(),
        new FoldOptions.Bounds(
            1 + random.nextInt(40),
            1 + random.nextInt(60),
            1 + random.nextInt(8),
            random.nextInt(10)),
        new FoldOptions.Times(
            random.nextInt(1_000_000), 1L + random.nextInt(50_000_000), 100_000_000, 20_000_000));
  }

  private void step(FakeKernel kernel, Random random) {
    long trace = 1L + random.nextInt(60);
    switch (random.nextInt(40)) {
      case 0 -> kernel.happens(EventBytes.of(Kind.OWNER_ENDED).under(trace));
      case 1 -> kernel.happens(EventBytes.of(Kind.OWNER_BEGAN).under(trace));
      case 2, 3, 4 -> kernel.pass(random.nextInt(2_000_000));
      case 5 -> kernel.lost += random.nextInt(3);
      default -> event(kernel, random, trace);
    }
  }

  private void event(FakeKernel kernel, Random random, long trace) {
    Kind kind = KINDS.get(random.nextInt(KINDS.size()));
    long nanos = 1L << random.nextInt(24);
    nanos += random.nextInt(1_000);
    long start = kernel.now - random.nextInt(1_000_000) - nanos;
    kernel.happens(
        EventBytes.of(kind)
            .under(trace)
            .by(1 + random.nextInt(3), random.nextInt(9))
            .from(start, start + nanos)
            .of(random.nextInt(1 << 20), random.nextInt(6), random.nextInt(6))
            .text("/etc/" + random.nextInt(6) + ".so"));
    long[] sums = model.computeIfAbsent(key(trace, kind), k -> new long[2]);
    sums[0]++;
    sums[1] += nanos;
  }

  private static String key(long trace, Kind kind) {
    String family = kind.family().name().toLowerCase(java.util.Locale.ROOT);
    return "%016x%016x %s.%s".formatted(7, trace, family, kind.call());
  }

  private static void add(Map<String, long[]> written, SpanRecord span) {
    long[] sums =
        written.computeIfAbsent(
            span.traceId() + " " + SpanCatalog.unfolded(span.name()), k -> new long[2]);
    Object count = span.attribute("inferspan.ebpf.count");
    if (count == null) {
      sums[0]++;
      sums[1] += span.endEpochNanos() - span.startEpochNanos();
    } else {
      sums[0] += (Long) count;
      sums[1] += (Long) Objects.requireNonNull(span.attribute("inferspan.ebpf.duration.sum_ns"));
    }
  }
}
