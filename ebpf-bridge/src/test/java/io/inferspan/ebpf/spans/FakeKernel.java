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

/** An {@link EventSink} whose events, clocks and owners a test controls. */
final class FakeKernel {

  static final long TRACE_HIGH = 0x0102030405060708L;
  static final long TRACE_LOW = 0x1112131415161718L;
  static final long SPAN = 0x2122232425262728L;
  static final String TRACE_TEXT = "01020304050607081112131415161718";
  static final String SPAN_TEXT = "2122232425262728";

  /** The owner with these ids. An owner with another number has the ids 7, the number and 9. */
  static final long OWNER = 0x3132333435363738L;

  static final long MICRO = 1_000;
  static final long MILLI = 1_000_000;

  /** The epoch time minus the monotonic time, in nanoseconds. */
  static final long OFFSET = 1_700_000_000_000_000_000L;

  final Map<Integer, ProcessIdentity> processes = new HashMap<>();
  final List<String> controls = new ArrayList<>();
  final FakeSums sums = new FakeSums();
  final EventSink sink;
  long now = 1_000_000_000_000L;
  long lost;
  boolean failing;

  /** Whether lookups of owners find nothing. */
  boolean hasNoOwners;

  int lookups;

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
    lookups++;
    if (hasNoOwners) {
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

  /** Creates an event of the request that ends now. */
  EventBytes event(Kind kind, long nanos) {
    return EventBytes.of(kind).under(OWNER).by(100, 101).known(2, 0).from(now - nanos, now);
  }

  FakeKernel happens(EventBytes event) {
    sink.event(event.view());
    return this;
  }

  /** Creates the event that begins or ends the owner, with its ids. */
  EventBytes named(Kind kind) {
    return event(kind, 0).result(1).named(TRACE_HIGH, TRACE_LOW, SPAN);
  }

  FakeKernel happens(Kind kind, long nanos) {
    return happens(event(kind, nanos));
  }

  /** Lets time pass, then ends a read of the ring. */
  FakeKernel pass(long nanos) {
    now += nanos;
    sink.drained();
    return this;
  }

  /** Ends the request, and lets its grace time pass. */
  void endRequest() {
    happens(named(Kind.OWNER_ENDED));
    pass(300 * MILLI);
  }
}
