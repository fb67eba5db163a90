package io.inferspan.ebpf.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.ring.RingWriter;
import io.inferspan.ebpf.spans.EventSink;
import io.inferspan.ebpf.spans.FoldOptions;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.KernelSums;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.testing.TracingExtension;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class EbpfMetersTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private EventSink sink() {
    return new EventSink(
        Telemetry.using(tracing.openTelemetry()),
        FoldOptions.defaults(),
        new EventSink.Sources(
            () -> 5_000,
            () -> 9_000,
            () -> 0,
            (number, tgid, tid) -> new Owner(number, Owner.Kind.REQUEST, 1, 2, 3, tgid, null),
            pid -> ProcessIdentity.UNKNOWN,
            KernelSums.NONE,
            null,
            (kind, event) -> {}));
  }

  @Test
  void meters_showTheCountsOfTheSink() {
    try (Arena arena = Arena.ofShared()) {
      RingWriter writer = new RingWriter(arena, 1 << 16);
      RingReader reader = new RingReader(writer.memory());
      EventSink sink = sink();
      EbpfMeters meters =
          new EbpfMeters(registry, sink, reader, reader::backlogBytes)
              .drop("ring_full", () -> 7)
              .program("sys_exit", () -> 3, () -> 4_000)
              .failure("library", () -> 2)
              .sleep(() -> true, () -> 5)
              .probe("cuda", () -> true)
              .probe("nccl", () -> false);
      for (int i = 0; i < 10; i++) {
        writer.write(EventBytes.of(Kind.CUDA_LAUNCH).under(1).from(1_000, 2_000).bytes());
      }
      writer.write(new byte[16]);
      assertThat(gauge("inferspan.ebpf.ring.fill")).isEqualTo(10 * 72 + 24);

      reader.drain(sink);
      sink.drained();

      assertThat(gauge("inferspan.ebpf.ring.fill")).isZero();
      assertThat(gauge("inferspan.ebpf.ring.capacity")).isEqualTo(65_536);
      assertThat(gauge("inferspan.ebpf.requests.open")).isOne();
      assertThat(registry.get("inferspan.ebpf.lag").timeGauge().value(TimeUnit.NANOSECONDS))
          .isEqualTo(3_000);
      assertThat(count("inferspan.ebpf.events", "kind", "cuda.launch")).isEqualTo(10);
      assertThat(count("inferspan.ebpf.events.dropped", "reason", "malformed")).isOne();
      assertThat(count("inferspan.ebpf.events.dropped", "reason", "ring_full")).isEqualTo(7);
      assertThat(registry.get("inferspan.ebpf.program").tag("program", "sys_exit").functionTimer())
          .satisfies(timer -> assertThat(timer.count()).isEqualTo(3))
          .satisfies(timer -> assertThat(timer.totalTime(TimeUnit.NANOSECONDS)).isEqualTo(4_000));
      assertThat(registry.get("inferspan.ebpf.attached").tag("probe", "cuda").gauge().value())
          .isOne();
      assertThat(registry.get("inferspan.ebpf.attached").tag("probe", "nccl").gauge().value())
          .isZero();
      assertThat(count("inferspan.ebpf.failures", "where", "library")).isEqualTo(2);
      assertThat(gauge("inferspan.ebpf.asleep")).isOne();
      assertThat(registry.get("inferspan.ebpf.sleeps").functionCounter().count()).isEqualTo(5);

      sink.flush();
      assertThat(registry.get("inferspan.ebpf.events.emitted").functionCounter().count())
          .isEqualTo(3);
      assertThat(registry.get("inferspan.ebpf.events.folded").functionCounter().count())
          .isEqualTo(7);
      assertThat(meters).isNotNull();
    }
  }

  private double gauge(String name) {
    return registry.get(name).gauge().value();
  }

  private double count(String name, String tag, String value) {
    return registry.get(name).tag(tag, value).functionCounter().count();
  }
}
