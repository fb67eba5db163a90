package io.inferspan.ebpf.batch;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import io.inferspan.ebpf.nccl.Communicator;
import io.inferspan.ebpf.nccl.Communicators;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.ebpf.wire.Source;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Derives the steps of engines from the marks that their plugin sets ({@code inferspan_ckp.h}) or,
 * without a plugin, from their messages, and assigns calls to the steps. Runs on the ring's thread.
 */
public final class EngineSteps {

  private static final int MAX_ENGINES = 1_024;
  private static final int MAX_REQUESTS = 16_384;
  private static final int MAX_CHANGES = 4_096;
  private static final long EXPIRE_NANOS = 100_000_000L;
  private static final int BOUND = 0;
  private static final int AMBIGUOUS = 1;
  private static final int FULL = 1;

  private final Host host;
  private final Batches batches;
  private final Map<Integer, Marks> engines = new HashMap<>();
  private final FramedEngines framed;
  private final Communicators communicators = new Communicators();
  private long expiredNanos;

  /** Callbacks to the reader of events. */
  public interface Host {

    /** Returns the live sampled request of a process with this {@code x-request-id}, or null. */
    @Nullable Owner head(int tgid, String requestId);

    /** Returns the rank of a worker by its process title; null if it has none. */
    @Nullable String rank(int pid);

    /** Called before the events of a step. */
    void began(Step step);

    /** Called after the span of a step was started. */
    void done(Step step);

    /** Returns whether a record of any process was lost in this interval. */
    boolean lost(long fromNanos, long toNanos);

    /**
     * Returns the lowest detail level of an event class in this interval, such as {@code
     * launches:counted}; empty if it was always full.
     */
    String level(EventClass events, long fromNanos, long toNanos);

    /**
     * Returns how far this host's clock was ahead of the reference clock at this time; null if
     * unknown.
     */
    @Nullable Interval clock(long epochNanos);
  }

  /** The last step that a process began, with the changes read so far. */
  private static final class Marks {
    long owner;
    long step;
    long beganNanos;
    long[] changes = new long[64];
    long count;
    int read;
    boolean full;
    boolean open;

    /** Stream of the last launch; a wait for another stream does not show that the step is done. */
    long stream;

    /** Whether launches of the step may be unreported, so that its stream is unknown. */
    boolean anyStream;
  }

  /** Writes spans to {@code telemetry}; {@code epochNanos} converts times of CLOCK_MONOTONIC. */
  public EngineSteps(Telemetry telemetry, LongUnaryOperator epochNanos, Host host) {
    ShareModel model = ShareModel.PREFILL_WEIGHTED;
    BatchWriter writer = new BatchWriter(telemetry, model, epochNanos, host::clock);
    this.host = host;
    HostAdapter adapter = new HostAdapter(writer, epochNanos, host, communicators);
    this.batches = new Batches(model, MAX_REQUESTS, adapter, adapter);
    this.framed = new FramedEngines(batches, this::head);
  }

  private record HostAdapter(
      BatchWriter writer, LongUnaryOperator epoch, Host host, Communicators communicators)
      implements Batches.Sink, Batches.Losses {

    @Override
    public boolean during(long fromNanos, long toNanos) {
      return host.lost(fromNanos, toNanos);
    }

    @Override
    public String level(EventClass events, long fromNanos, long toNanos) {
      return host.level(events, fromNanos, toNanos);
    }

    @Override
    public @Nullable String rank(int pid) {
      String title = host.rank(pid);
      return title == null ? communicators.rank(pid) : title;
    }

    @Override
    public long epochNanos(long nanos) {
      return epoch.applyAsLong(nanos);
    }

    @Override
    public void done(Step step) {
      writer.done(step);
      if (step.owner != 0) {
        host.done(step);
      }
    }

    @Override
    public void measured(Step step) {
      writer.measured(step);
    }

    @Override
    public void request(BatchRequest request) {
      writer.request(request);
    }
  }

  /** Returns the known communicators of NCCL. */
  public Communicators communicators() {
    return communicators;
  }

  /** Returns the counters, which any thread may read. */
  public BatchCounters counters() {
    return batches.counters();
  }

  /**
   * Handles a record that does not become a span; returns false if other code must handle it, too.
   */
  public boolean control(Kind kind, EventView event) {
    boolean frames = Source.of(event.source()) == Source.FRAMES;
    switch (kind) {
      case SLOT_BOUND -> {
        if (frames) {
          framed.added(event);
        } else {
          framed.supersede(event.tgid(), (int) event.extra(), event.endNanos());
          bound(event);
        }
      }
      case STEP_CHANGES -> {
        if (frames) {
          framed.outputs(event);
        } else {
          changed(event);
        }
      }
      case OWNER_BEGAN, OWNER_ENDED -> {
        if (Owner.Kind.of(event.result()) != Owner.Kind.STEP) {
          return false;
        }
        if (kind == Kind.OWNER_BEGAN) {
          began(event);
        } else {
          ended(event);
        }
      }
      case CUDA_KERNEL -> {
        if (engines.containsKey(event.tgid())) {
          batches.ran(
              event.tgid(), event.extra(), event.amount(), event.detail(), event.endNanos());
        }
      }
      case NCCL_COMMUNICATOR -> communicators.created(event);
      case PROCESS_STARTED, PROCESS_EXITED -> {
        communicators.exited(event.tgid());
        engines.remove(event.tgid());
        // Even a process without steps may have slots.
        batches.processExited(event.tgid(), event.endNanos());
        framed.close(event.tgid(), false, event.endNanos());
        return false;
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private void bound(EventView event) {
    String id = event.requestId();
    int parent = (int) event.extra();
    switch (event.result()) {
      case BOUND -> batches.bind(event.tgid(), parent, event.amount(), id, head(event, id));
      case AMBIGUOUS -> batches.bind(event.tgid(), parent, event.amount(), "", null);
      default -> batches.bind(event.tgid(), parent, event.amount(), null, null);
    }
  }

  /**
   * Returns the head of the request with this id, as the process or one of its ancestors read it;
   * null if it is unknown. Other processes are not searched, because they may use the same id.
   */
  private @Nullable RequestHead head(EventView event, String id) {
    int parent = (int) event.extra();
    Owner head = host.head(event.tgid(), id);
    head = head == null ? host.head(parent, id) : head;
    head = head == null ? host.head((int) (event.extra() >>> 32), id) : head;
    if ((event.traceIdHigh() | event.traceIdLow()) != 0) {
      return new RequestHead(
          RequestHead.parent(event.traceIdHigh(), event.traceIdLow(), event.spanId()),
          head == null ? Long.MAX_VALUE : head.beganNanos());
    }
    return head == null ? null : RequestHead.of(head);
  }

  private void began(EventView event) {
    Marks marks = engines.get(event.tgid());
    if (marks == null) {
      if (engines.size() >= MAX_ENGINES) {
        return;
      }
      marks = new Marks();
      engines.put(event.tgid(), marks);
    }
    marks.owner = event.owner();
    marks.step = event.extra();
    marks.beganNanos = event.startNanos();
    marks.count = event.amount();
    marks.read = 0;
    marks.full = (event.detail() & FULL) != 0;
    marks.open = false;
    if (marks.count > marks.changes.length && marks.count <= MAX_CHANGES) {
      marks.changes = new long[MAX_CHANGES];
    }
    beginIfComplete(marks, event.tgid());
  }

  private void changed(EventView event) {
    Marks marks = engines.get(event.tgid());
    if (marks == null
        || marks.owner != event.owner()
        || marks.read != event.amount()
        || marks.count > MAX_CHANGES
        || event.result() != 0) {
      return;
    }
    for (int i = 0; i < event.changes() && marks.read < marks.count; i++) {
      marks.changes[marks.read++] = event.change(i);
    }
    beginIfComplete(marks, event.tgid());
  }

  /** Begins a step after all of its changes were read; never begins one whose changes were lost. */
  private void beginIfComplete(Marks marks, int pid) {
    if (marks.read == marks.count) {
      Changes changes = new Changes(marks.changes, marks.read, marks.full);
      Step step = batches.stepBegan(pid, marks.step, changes, marks.beganNanos);
      step.owner = marks.owner;
      marks.open = true;
      marks.anyStream = step.isLowered();
      host.began(step);
    }
  }

  private void ended(EventView event) {
    Marks marks = engines.get(event.tgid());
    if (marks != null && marks.open && marks.owner == event.owner()) {
      marks.open = false;
      batches.stepEnded(event.tgid(), marks.step, event.amount(), event.endNanos());
    }
  }

  /** Handles a call; returns false if its process does not belong to an engine. */
  public boolean call(Kind kind, EventView event) {
    compare(kind, event);
    if (framed.call(kind, event)) {
      return true;
    }
    Marks marks = engines.isEmpty() ? null : engines.get(event.tgid());
    if (marks == null) {
      return false;
    }
    int pid = event.tgid();
    boolean inStep = marks.open && marks.owner == event.owner();
    if (inStep && event.generation() != 0) {
      batches.policyApplied(pid);
    }
    switch (kind) {
      case CUDA_LAUNCH, CUDA_GRAPH_LAUNCH -> {
        if (inStep) {
          marks.stream = event.detail();
          batches.launched(pid, event.startNanos());
        }
      }
      case CUDA_EVENT_RECORD -> {
        if (inStep) {
          batches.recorded(pid, event.extra());
        }
      }
      case CUDA_EVENT_SYNC, CUDA_EVENT_QUERY -> {
        if (event.result() == 0) {
          batches.eventReached(pid, event.detail(), event.endNanos());
        }
      }
      case CUDA_STREAM_SYNC, CUDA_STREAM_QUERY, CUDA_DEVICE_SYNC -> {
        boolean awaitsLaunches =
            kind == Kind.CUDA_DEVICE_SYNC || marks.anyStream || marks.stream == event.detail();
        if (event.result() == 0 && awaitsLaunches) {
          batches.allDone(pid, event.endNanos());
        }
      }
      case NCCL_ALL_REDUCE, NCCL_ALL_GATHER, NCCL_REDUCE_SCATTER, NCCL_BROADCAST, NCCL_REDUCE -> {
        Communicator communicator = communicators.of(event.extra());
        if (inStep && communicator != null) {
          batches.called(pid, communicator, Communicators.sequence(event.extra()));
        }
      }
      default -> {}
    }
    return true;
  }

  /** Compares a collective with the collective of the same sequence number on other ranks. */
  private void compare(Kind kind, EventView event) {
    if (kind.family() == Family.NCCL) {
      switch (communicators.called(kind, event)) {
        case EQUAL -> counters().increment(Count.PAIRED_COLLECTIVES);
        case DIFFERENT -> counters().increment(Count.ORDER_VIOLATIONS);
        case UNPAIRED -> {}
      }
    }
  }

  /** Writes the requests that are due. */
  public void expire(long nanos) {
    if (nanos - expiredNanos >= EXPIRE_NANOS) {
      expiredNanos = nanos;
      batches.expire(nanos);
    }
  }

  /** Writes all remaining steps and requests. */
  public void close(long nanos) {
    engines.clear();
    framed.close(nanos);
    batches.close(nanos);
  }
}
