package io.inferspan.ebpf.spans;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.testing.TracingExtension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A sink, its clocks and its events, all in the hands of a test. */
final class FakeKernel {

  static final long TRACE_HIGH = 0x0102030405060708L;
  static final long TRACE_LOW = 0x1112131415161718L;
  static final long SPAN = 0x2122232425262728L;
  static final String TRACE_TEXT = "01020304050607081112131415161718";
  static final String SPAN_TEXT = "2122232425262728";

  /** The owner with these ids. Of other numbers, the ids are 7, the number and 9. */
  static final long OWNER = 0x3132333435363738L;

  static final long MICRO = 1_000;
  static final long MILLI = 1_000_000;

  /** Epoch minus monotonic. */
  static final long OFFSET = 1_700_000_000_000_000_000L;

  final Map<Integer, ProcessIdentity> processes = new HashMap<>();
  final List<String> controls = new ArrayList<>();
  final FakeSums sums = new FakeSums();
  final EventSink sink;
  long now = 1_000_000_000_000L;
  long lost;
  boolean failing;

  /** Whether its maps have no owner any more. */
  boolean forgetful;

  int asked;

  FakeKernel(TracingExtension tracing, FoldOptions options) {
    this.sink =
        new EventSink(
            Telemetry.using(tracing.openTelemetry()),
            options,
            new EventSink.Sources(
                () -> now,
                () -> now + OFFSET,
                () -> lost,
                this::owner,
                this::identity,
                sums,
                null,
                this::control));
  }

  private @Nullable Owner owner(long number, int tgid, int tid) {
    asked++;
    if (forgetful) {
      return null;
    }
    return number == OWNER
        ? new Owner(number, Owner.Kind.REQUEST, TRACE_HIGH, TRACE_LOW, SPAN, tgid, null)
        : new Owner(number, Owner.Kind.REQUEST, 7, number, 9, tgid, null);
  }

  private ProcessIdentity identity(int pid) {
    return processes.getOrDefault(pid, ProcessIdentity.UNKNOWN);
  }

  private void control(Kind kind, EventView event) {
    if (failing) {
      throw new LinkageError("no");
    }
    controls.add(kind + " " + event.text());
  }

  /** An event of the request, that ends now. */
  EventBytes event(Kind kind, long nanos) {
    return EventBytes.of(kind).under(OWNER).by(100, 101).known(2, 0).from(now - nanos, now);
  }

  FakeKernel happens(EventBytes event) {
    sink.event(event.view());
    return this;
  }

  /** The owner begins or ends, and says who it is. */
  EventBytes named(Kind kind) {
    return event(kind, 0).result(1).named(TRACE_HIGH, TRACE_LOW, SPAN);
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
    happens(named(Kind.OWNER_ENDED));
    pass(300 * MILLI);
  }
}
