package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.BatchAttributes;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayList;
import java.util.List;

/** Spans of kernel events under a request, one type per family; the call completes the name. */
public final class KernelSpans {

  /**
   * The suffix of a span that represents several calls. Such a span lasts from the start of its
   * first call to the end of its last; a separate name keeps that duration out of a backend's
   * statistics by span name.
   */
  public static final String FOLDED = " (folded)";

  private static final List<Attribute<?>> ALWAYS =
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

  /** A call of the CUDA driver or runtime, from its start to its return. */
  public static final SpanType CUDA =
      span(Component.KERNEL, "cuda.")
          .taking("<call>")
          .carries(
              and(
                  KernelAttributes.POLICY_GENERATION,
                  KernelAttributes.BYTES,
                  KernelAttributes.BLOCKS,
                  KernelAttributes.STREAM))
          .build();

  /**
   * A collective or a transfer between GPUs: the call that enqueued it, or, with a timing source,
   * its execution as NCCL's inspector recorded it. Such spans are below {@code nccl.communicator},
   * which lasts from the first operation of its ranks to their last.
   */
  public static final SpanType NCCL =
      span(Component.KERNEL, "nccl.")
          .taking("<operation>")
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
          .taking("<name>")
          .carries(
              and(
                  KernelAttributes.BYTES,
                  KernelAttributes.FD_KIND,
                  KernelAttributes.FILE_PLACE,
                  KernelAttributes.FILE_EXTENSION,
                  KernelAttributes.FILE_PATH))
          .build();

  /** Time in which the request's thread did not run. */
  public static final SpanType SCHED =
      span(Component.KERNEL, "sched.")
          .taking("<state>")
          .carries(and(KernelAttributes.THREAD_STATE, KernelAttributes.THREAD_SYSCALL))
          .build();

  /** TCP events on behalf of the request. */
  public static final SpanType TCP =
      span(Component.KERNEL, "tcp.").taking("<event>").carries(and()).build();

  /** An operation that the engine itself reported, or the driver call that it made. */
  public static final SpanType CKP =
      span(Component.KERNEL, "ckp.")
          .taking("<call>")
          .carries(and(KernelAttributes.OPERATION, KernelAttributes.OPERATION_ID))
          .build();

  /** A model server from its first instruction until it is ready. */
  public static final SpanType COLD_START =
      span(Component.KERNEL, "llm_d.model_server.cold_start")
          .carries(
              KernelAttributes.PROCESS_ID,
              KernelAttributes.READY,
              KernelAttributes.OWN_MS,
              KernelAttributes.DROPPED)
          .build();

  /**
   * A phase of a cold start, from its first to its last evidence; the time to the first listening
   * socket; or a gap.
   */
  public static final SpanType COLD_START_PART =
      span(Component.KERNEL, "llm_d.model_server.cold_start.")
          .taking("<phase>")
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
    List<Attribute<?>> all = new ArrayList<>(ALWAYS);
    all.addAll(List.of(others));
    return all.toArray(Attribute<?>[]::new);
  }
}
