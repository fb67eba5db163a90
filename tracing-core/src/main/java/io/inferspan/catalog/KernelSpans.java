package io.inferspan.catalog;

import static io.inferspan.catalog.SpanType.span;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.KernelAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Spans of what the kernel saw under a request, one type per family: the call is the name's detail.
 */
public final class KernelSpans {

  private static final List<Attribute<?>> ALWAYS =
      List.of(
          KernelAttributes.PROCESS_ID,
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
          KernelAttributes.COVERAGE);

  public static final SpanType CUDA =
      span(Component.KERNEL, "cuda.")
          .taking("<call>")
          .carries(and(KernelAttributes.BYTES, KernelAttributes.BLOCKS, KernelAttributes.STREAM))
          .means("A call of the CUDA driver or runtime, as long as it held the calling thread.");

  public static final SpanType NCCL =
      span(Component.KERNEL, "nccl.")
          .taking("<operation>")
          .carries(
              and(
                  KernelAttributes.BYTES,
                  KernelAttributes.ELEMENTS,
                  KernelAttributes.DATA_TYPE,
                  KernelAttributes.REDUCTION,
                  KernelAttributes.COMMUNICATOR))
          .means("A collective or a transfer between GPUs, as it was enqueued.");

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
          .means("A system call that the request waited for.");

  public static final SpanType SCHED =
      span(Component.KERNEL, "sched.")
          .taking("<state>")
          .carries(and(KernelAttributes.THREAD_STATE, KernelAttributes.THREAD_SYSCALL))
          .means("Time in which the request's thread did not run.");

  public static final SpanType TCP =
      span(Component.KERNEL, "tcp.")
          .taking("<event>")
          .carries(and())
          .means("What TCP did on behalf of the request.");

  public static final SpanType CKP =
      span(Component.KERNEL, "ckp.")
          .taking("<call>")
          .carries(and(KernelAttributes.OPERATION, KernelAttributes.OPERATION_ID))
          .means("An operation that the engine itself told of, or the driver call that it made.");

  private KernelSpans() {}

  private static Attribute<?>[] and(Attribute<?>... others) {
    List<Attribute<?>> all = new ArrayList<>(ALWAYS);
    all.addAll(List.of(others));
    return all.toArray(Attribute<?>[]::new);
  }
}
