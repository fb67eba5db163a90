package io.inferspan.ebpf.spans;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.TracingExtension;
import java.util.ArrayList;
import java.util.List;

/** A sink, its clocks and its events, all in the hands of a test. */
final class FakeKernel {

  static final long TRACE_HIGH = 0x0102030405060708L;
  static final long TRACE_LOW = 0x1112131415161718L;
  static final long SPAN = 0x2122232425262728L;
  static final String TRACE_TEXT = "01020304050607081112131415161718";
  static final String SPAN_TEXT = "2122232425262728";

  static final long MICRO = 1_000;
  static final long MILLI = 1_000_000;

  /** Epoch minus monotonic. */
  static final long OFFSET = 1_700_000_000_000_000_000L;

  final List<String> controls = new ArrayList<>();
  final EventSink sink;
  long now = 1_000_000_000_000L;
  long lost;
  boolean failing;

  FakeKernel(TracingExtension tracing, FoldOptions options) {
    this.sink =
        new EventSink(
            Telemetry.using(tracing.openTelemetry()),
            options,
            new EventSink.Sources(() -> now, () -> now + OFFSET, () -> lost, this::control));
  }

  private void control(Kind kind, EventView event) {
    if (failing) {
      throw new LinkageError("no");
    }
    controls.add(kind + " " + event.text());
  }

  /** An event of the request, that ends now. */
  EventBytes event(Kind kind, long nanos) {
    return EventBytes.of(kind)
        .under(TRACE_HIGH, TRACE_LOW, SPAN)
        .by(100, 101)
        .known(2, 0)
        .from(now - nanos, now);
  }

  FakeKernel happens(EventBytes event) {
    sink.event(event.view());
    return this;
  }

  FakeKernel happens(Kind kind, long nanos) {
    return happens(event(kind, nanos));
  }

  /** Time passes, and the ring is looked at. */
  FakeKernel pass(long nanos) {
    now += nanos;
    sink.drained();
    return this;
  }

  /** The request ends, and its grace time too. */
  void endRequest() {
    happens(Kind.REQUEST_ENDED, 0);
    pass(300 * MILLI);
  }
}
