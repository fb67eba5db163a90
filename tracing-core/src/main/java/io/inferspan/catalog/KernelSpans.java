package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Spans that the eBPF bridge creates, one type per family; the name of the call completes the name.
 */
public final class KernelSpans {

  /**
   * The suffix of the name of a folded span, which represents several calls. It lasts from the
   * start of the first call to the end of the last, so a separate name keeps its duration out of a
   * backend's statistics by span name.
   */
  public static final String FOLDED = " (folded)";

  /** The attributes of all span types of this class except the cold starts. */
  static final List<Attribute<?>> COMMON =
      List.of(
          KernelAttributes.PROCESS_ID,
          KernelAttributes.EXECUTABLE,
          KernelAttributes.CONTAINER_ID,
          KernelAttributes.POD_UID,
          KernelAttributes.THREAD_ID,
          KernelAttributes.SOURCE,
          KernelAttributes.RESULT,
          KernelAttributes.COUNT,
          KernelAttributes.FAILURES,
          KernelAttributes.DURATION_SUM_NS,
          KernelAttributes.DURATION_MIN_NS,
          KernelAttributes.DURATION_P50_NS,
          KernelAttributes.DURATION_P99_NS,
          KernelAttributes.DURATION_MAX_NS,
          KernelAttributes.FIRST_OFFSET_NS,
          KernelAttributes.LAST_OFFSET_NS,
          KernelAttributes.DROPPED,
          KernelAttributes.COVERAGE,
          KernelAttributes.SHARED,
          KernelAttributes.UNATTRIBUTED,
          KernelAttributes.LEVEL);

  /** A call to the CUDA driver or runtime, from entry to return. */
  public static final SpanType CUDA =
      span(Component.KERNEL, "cuda.")
          .parameter("<call>")
          .carries(
              and(
                  KernelAttributes.POLICY_GENERATION,
                  KernelAttributes.BYTES,
                  KernelAttributes.BLOCKS,
                  KernelAttributes.STREAM))
          .build();

  /**
   * A collective or a point-to-point transfer. If it has a timing source, the span is the execution
   * that NCCL's inspector recorded, and its parent is {@code nccl.communicator}, which lasts from
   * the first operation of all ranks to the last. Otherwise the span is the call that enqueued the
   * operation.
   */
  public static final SpanType NCCL =
      span(Component.KERNEL, "nccl.")
          .parameter("<operation>")
          .carries(
              and(
                  KernelAttributes.POLICY_GENERATION,
                  KernelAttributes.BYTES,
                  KernelAttributes.ELEMENTS,
                  KernelAttributes.DATA_TYPE,
                  KernelAttributes.REDUCTION,
                  KernelAttributes.COMMUNICATOR,
                  KernelAttributes.RANK,
                  KernelAttributes.RANKS,
                  KernelAttributes.PEER,
                  KernelAttributes.SEQUENCE,
                  KernelAttributes.ALGORITHM,
                  KernelAttributes.BUS_BANDWIDTH,
                  KernelAttributes.TIMING_SOURCE,
                  KernelAttributes.CLOCK_OFFSET_MS,
                  KernelAttributes.CLOCK_ERROR_MS,
                  KernelAttributes.CLOCK_VIOLATIONS,
                  KernelAttributes.POLICY_LAST_NS,
                  KernelAttributes.POLICY_AVERAGE_NS,
                  KernelAttributes.POLICY_P99_NS,
                  KernelAttributes.POLICY_TARGET_NS,
                  KernelAttributes.POLICY_SAMPLES,
                  KernelAttributes.POLICY_CHANNELS,
                  KernelAttributes.CPU_CONTENTION,
                  KernelAttributes.CPU_SWITCHES,
                  KernelAttributes.CPU_COUNT,
                  BatchAttributes.SYNTHESISED,
                  KernelAttributes.HOST))
          .build();

  /** A system call that the request waited for. */
  public static final SpanType SYSCALL =
      span(Component.KERNEL, "syscall.")
          .parameter("<name>")
          .carries(
              and(
                  KernelAttributes.BYTES,
                  KernelAttributes.FD_KIND,
                  KernelAttributes.FILE_PLACE,
                  KernelAttributes.FILE_EXTENSION,
                  KernelAttributes.FILE_PATH))
          .build();

  /** Time during which the request's thread did not run. */
  public static final SpanType SCHED =
      span(Component.KERNEL, "sched.")
          .parameter("<state>")
          .carries(and(KernelAttributes.THREAD_STATE, KernelAttributes.THREAD_SYSCALL))
          .build();

  /** A TCP connect or retransmission of the request. */
  public static final SpanType TCP =
      span(Component.KERNEL, "tcp.").parameter("<event>").carries(and()).build();

  /** An operation that the engine marks with {@code inferspan_ckp.h}, or an ioctl at its start. */
  public static final SpanType CKP =
      span(Component.KERNEL, "ckp.")
          .parameter("<call>")
          .carries(and(KernelAttributes.OPERATION, KernelAttributes.OPERATION_ID))
          .build();

  /** The start of a model server, from its first instruction until it is ready. */
  public static final SpanType COLD_START =
      span(Component.KERNEL, "llm_d.model_server.cold_start")
          .carries(
              KernelAttributes.PROCESS_ID,
              KernelAttributes.READY,
              KernelAttributes.OWN_MS,
              KernelAttributes.DROPPED)
          .build();

  /**
   * A phase of a cold start, from its first to its last call; a gap between phases; or the time
   * until the first socket listens.
   */
  public static final SpanType COLD_START_PART =
      span(Component.KERNEL, "llm_d.model_server.cold_start.")
          .parameter("<phase>")
          .under(COLD_START)
          .carries(
              KernelAttributes.COUNT,
              KernelAttributes.OWN_MS,
              KernelAttributes.PROCESS_ID,
              KernelAttributes.THREAD_STATE,
              KernelAttributes.THREAD_SYSCALL)
          .build();

  private KernelSpans() {}

  /** Returns the name of the call, without {@link #FOLDED}. */
  public static String unfolded(String name) {
    return name.endsWith(FOLDED) ? name.substring(0, name.length() - FOLDED.length()) : name;
  }

  private static Attribute<?>[] and(Attribute<?>... others) {
    List<Attribute<?>> all = new ArrayList<>(COMMON);
    all.addAll(List.of(others));
    return all.toArray(Attribute<?>[]::new);
  }
}
