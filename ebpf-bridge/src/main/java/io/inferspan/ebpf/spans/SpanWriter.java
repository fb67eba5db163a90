package io.inferspan.ebpf.spans;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.KernelSpans;
import io.inferspan.catalog.SpanCatalog;
import io.inferspan.catalog.SpanType;
import io.inferspan.ebpf.batch.EngineSteps;
import io.inferspan.ebpf.nccl.Communicator;
import io.inferspan.ebpf.nccl.Communicators;
import io.inferspan.ebpf.probe.ProcessIdentity;
import io.inferspan.ebpf.wire.Amount;
import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.EventClass;
import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.FdKind;
import io.inferspan.ebpf.wire.KernelSum;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.ebpf.wire.Source;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.KernelAttributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the events of a request, or of another owner, as child spans of its span. */
final class SpanWriter {

  private final Telemetry telemetry;
  private final KernelClock clock;
  private final LossTimeline losses;
  private final SpanAccounting accounting;
  private final ProcessTable processes;
  private final Communicators communicators;

  /** The detail levels during the request that is being written. */
  private LevelTimeline.Seen seen = new LevelTimeline.Seen("", 1, 1, 1, 1);

  /**
   * The number of the request's events that a policy dropped, or that were only counted because of
   * a lowered level.
   */
  private long shed;

  /** The share of the request's events that are not in {@link #shed}. */
  private double kept = 1;

  private @Nullable String shared;
  private long unattributed;

  SpanWriter(
      Telemetry telemetry,
      KernelClock clock,
      LossTimeline losses,
      SpanAccounting accounting,
      ProcessTable processes,
      EngineSteps steps) {
    this.telemetry = telemetry;
    this.clock = clock;
    this.losses = losses;
    this.accounting = accounting;
    this.processes = processes;
    this.communicators = steps.communicators();
  }

  /** Writes the events of an owner, and the sums of its events that were folded in the kernel. */
  void write(
      OpenRequest request, List<KernelSum> sums, Context parent, LevelTimeline.Seen watched) {
    clock.refresh();
    seen = watched;
    shed = sums.stream().mapToLong(KernelSum::shed).sum();
    long known = request.events() + sums.stream().mapToLong(KernelSum::reported).sum();
    kept = shed == 0 ? 1 : (double) known / (known + shed);
    shared = DetailWords.shared(request.shared);
    unattributed = request.unattributed;
    for (int i = 0; i < request.singleCount(); i++) {
      HeldEvent event = request.single(i);
      if (event != null) {
        accounting.countEmitted();
        write(event, parent);
      }
    }
    for (int i = 0; i < request.foldCount(); i++) {
      Fold fold = request.fold(i);
      if (fold != null) {
        write(fold, request.beganNanos, parent);
      }
    }
    for (KernelSum sum : sums) {
      if (sum.reported() > 0) {
        write(sum, request.beganNanos, parent);
      }
    }
  }

  private void write(KernelSum sum, long beganNanos, Context parent) {
    String name = sum.kind().call() + SpanCatalog.FOLDED;
    PendingSpan pending = telemetry.span(type(sum.kind()), name, parent);
    pending
        .set(KernelAttributes.PROCESS_ID, sum.tgid())
        .set(KernelAttributes.SOURCE, Source.of(sum.source()).word())
        .set(KernelAttributes.COUNT, sum.reported())
        .set(KernelAttributes.FIRST_OFFSET_NS, sum.firstNanos() - beganNanos);
    if (sum.count() > 0) {
      pending
          .set(KernelAttributes.DURATION_SUM_NS, sum.sumNanos())
          .set(KernelAttributes.DURATION_MIN_NS, sum.minNanos())
          .set(KernelAttributes.DURATION_MAX_NS, sum.maxNanos());
    }
    if (sum.generation() != 0) {
      pending.set(KernelAttributes.POLICY_GENERATION, sum.generation());
    }
    process(pending, processes.of(sum.tgid()));
    if (sum.count() > 0) {
      amount(pending, sum.kind(), sum.amount());
    }
    loss(pending, sum.kind(), sum.firstNanos(), sum.lastNanos());
    OperationSpan span = started(pending, sum.firstNanos());
    end(span, sum.firstNanos(), sum.lastNanos());
  }

  /** Returns the context of the owner's span. */
  static Context parent(Owner owner) {
    SpanContext context =
        SpanContext.createFromRemoteParent(
            TraceId.fromLongs(owner.traceIdHigh(), owner.traceIdLow()),
            SpanId.fromLong(owner.spanId()),
            TraceFlags.getSampled(),
            TraceState.getDefault());
    return Context.root().with(Span.wrap(context));
  }

  private void write(HeldEvent event, Context parent) {
    PendingSpan pending = pending(event, event.kind.call(), true, parent);
    pending.set(KernelAttributes.THREAD_ID, event.tid).set(KernelAttributes.RESULT, event.result);
    if (event.generation != 0) {
      pending.set(KernelAttributes.POLICY_GENERATION, event.generation);
    }
    if (event.kind.family() == Family.CKP) {
      pending.set(KernelAttributes.OPERATION_ID, event.extra);
    }
    amount(pending, event.kind, event.amount);
    bytesOfElements(pending, event, event.amount);
    loss(pending, event.kind, event.startNanos, event.endNanos);
    OperationSpan span = started(pending, event.startNanos);
    if (event.kind.family().failed(event.result)) {
      span.fail(errorType(event), "The call failed");
    }
    end(span, event.startNanos, event.endNanos);
  }

  private void write(Fold fold, long beganNanos, Context parent) {
    if (fold.durations().count() == 1) {
      accounting.countEmitted();
      write(fold.first(), parent);
      return;
    }
    Durations durations = fold.durations();
    accounting.countFolded(durations.count());
    String name = fold.first().kind.call() + SpanCatalog.FOLDED;
    PendingSpan pending = pending(fold.first(), name, fold.isUniform(), parent);
    pending
        .set(KernelAttributes.COUNT, durations.count())
        .set(KernelAttributes.DURATION_SUM_NS, durations.sum())
        .set(KernelAttributes.DURATION_MIN_NS, durations.min())
        .set(KernelAttributes.DURATION_P50_NS, durations.percentile(50))
        .set(KernelAttributes.DURATION_P99_NS, durations.percentile(99))
        .set(KernelAttributes.DURATION_MAX_NS, durations.max())
        .set(KernelAttributes.FIRST_OFFSET_NS, fold.firstStartNanos() - beganNanos)
        .set(KernelAttributes.LAST_OFFSET_NS, fold.lastStartNanos() - beganNanos);
    if (fold.failures() > 0) {
      pending.set(KernelAttributes.FAILURES, fold.failures());
    }
    amount(pending, fold.first().kind, fold.amount());
    if (fold.isUniform()) {
      bytesOfElements(pending, fold.first(), fold.amount());
    }
    loss(pending, fold.first().kind, fold.firstStartNanos(), fold.lastEndNanos());
    OperationSpan span = started(pending, fold.firstStartNanos());
    end(span, fold.firstStartNanos(), fold.lastEndNanos());
  }

  private PendingSpan pending(HeldEvent event, String name, boolean uniform, Context parent) {
    PendingSpan pending = telemetry.span(type(event.kind), name, parent);
    if (uniform) {
      pending
          .set(KernelAttributes.PROCESS_ID, event.tgid)
          .set(KernelAttributes.SOURCE, Source.of(event.source).word());
      process(pending, processes.of(event.tgid));
      detail(pending, event);
    }
    return pending;
  }

  private static void process(PendingSpan pending, ProcessIdentity identity) {
    pending
        .set(KernelAttributes.EXECUTABLE, identity.executable())
        .set(KernelAttributes.CONTAINER_ID, identity.containerId())
        .set(KernelAttributes.POD_UID, identity.podUid());
  }

  private static SpanType type(Kind kind) {
    return switch (kind.family()) {
      case CUDA -> KernelSpans.CUDA;
      case NCCL -> KernelSpans.NCCL;
      case SYSCALL -> KernelSpans.SYSCALL;
      case SCHED -> KernelSpans.SCHED;
      case TCP -> KernelSpans.TCP;
      case CKP -> KernelSpans.CKP;
      case CONTROL -> throw new IllegalStateException(kind + " becomes no span");
    };
  }

  private void detail(PendingSpan pending, HeldEvent event) {
    switch (event.kind.detail()) {
      case NONE, OPERATION_CALL -> {}
      case STREAM ->
          pending.set(KernelAttributes.STREAM, DetailWords.handle(event.tgid, event.detail));
      case FD -> pending.set(KernelAttributes.FD_KIND, FdKind.of((int) event.detail).word());
      case COLLECTIVE -> {
        pending.set(KernelAttributes.REDUCTION, DetailWords.reduction(event.detail));
        elements(pending, event);
      }
      case TRANSFER -> elements(pending, event);
      case STATE -> waited(pending, event, DetailWords.threadState(event.detail));
      case QUEUED -> waited(pending, event, DetailWords.queued(event.detail));
      case PATH -> file(pending, event.label, event.reduced);
      case OPERATION -> pending.set(KernelAttributes.OPERATION, event.label);
    }
  }

  private static void waited(PendingSpan pending, HeldEvent event, String state) {
    pending
        .set(KernelAttributes.THREAD_STATE, state)
        .set(KernelAttributes.THREAD_SYSCALL, CallNumber.name(event.extra));
  }

  private void elements(PendingSpan pending, HeldEvent event) {
    pending.set(KernelAttributes.DATA_TYPE, DetailWords.dataType(event.detail));
    Communicator communicator = communicators.of(event.extra);
    if (communicator == null) {
      long handle = Communicators.withoutSequence(event.extra);
      pending.set(KernelAttributes.COMMUNICATOR, DetailWords.handle(event.tgid, handle));
      return;
    }
    long sequence = Communicators.sequence(event.extra);
    pending
        .set(KernelAttributes.COMMUNICATOR, communicator.id())
        .set(KernelAttributes.RANK, communicator.rank())
        .set(KernelAttributes.RANKS, communicator.ranks())
        .set(KernelAttributes.SEQUENCE, sequence == 0 ? null : sequence);
  }

  private static void file(PendingSpan pending, @Nullable String path, long reduced) {
    pending
        .set(KernelAttributes.FILE_PLACE, FilePaths.place(reduced))
        .set(KernelAttributes.FILE_EXTENSION, FilePaths.extension(reduced))
        .set(KernelAttributes.FILE_PATH, path);
  }

  private static void amount(PendingSpan pending, Kind kind, long amount) {
    Attribute<Long> attribute =
        switch (kind.amount()) {
          case NONE -> null;
          case BYTES -> KernelAttributes.BYTES;
          case ELEMENTS -> KernelAttributes.ELEMENTS;
          case BLOCKS -> KernelAttributes.BLOCKS;
        };
    if (attribute != null) {
      pending.set(attribute, amount < 0 ? Long.MAX_VALUE : amount);
    }
  }

  /** Sets the size in bytes if the type of the elements is known. */
  private static void bytesOfElements(PendingSpan pending, HeldEvent event, long elements) {
    if (event.kind.amount() == Amount.ELEMENTS) {
      long bytes = DetailWords.elementBytes(event.detail, elements);
      if (bytes >= 0) {
        pending.set(KernelAttributes.BYTES, bytes);
      }
    }
  }

  private void loss(PendingSpan pending, Kind kind, long startNanos, long endNanos) {
    if (!seen.lowered().isEmpty()) {
      pending.set(KernelAttributes.LEVEL, seen.lowered());
    }
    if (shared != null) {
      pending.set(KernelAttributes.SHARED, shared).set(KernelAttributes.UNATTRIBUTED, unattributed);
    }
    long lost = losses.lost(startNanos, endNanos) + shed;
    if (lost > 0) {
      pending.set(KernelAttributes.DROPPED, lost);
    }
    double share =
        switch (kind.family()) {
          case SCHED, TCP -> seen.sched();
          case SYSCALL -> seen.syscalls();
          default -> EventClass.of(kind) == EventClass.LAUNCHES ? seen.launches() : seen.calls();
        };
    // The number of events while the probes were detached is unknown, so coverage is a share of
    // time.
    if (lost > 0 || share < 1) {
      pending.set(KernelAttributes.COVERAGE, share * kept * losses.coverage(startNanos, endNanos));
    }
  }

  private static String errorType(HeldEvent event) {
    return switch (event.kind.family()) {
      case CUDA -> "cuda " + event.result;
      case NCCL -> "nccl " + event.result;
      default -> "errno " + -event.result;
    };
  }

  private OperationSpan started(PendingSpan pending, long startNanos) {
    return pending.startingAt(clock.epochNanos(startNanos)).start();
  }

  /**
   * Ends the span relative to its converted start, so that its duration is exactly the measured
   * one.
   */
  private void end(OperationSpan span, long startNanos, long endNanos) {
    span.closeAt(clock.epochNanos(startNanos) + (endNanos - startNanos));
  }
}
