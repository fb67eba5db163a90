package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of what the kernel saw: calls, waits and copies under a request. */
public final class KernelAttributes {

  public static final Attribute<Long> PROCESS_ID =
      count("process.pid", "The process that made the call.");
  public static final Attribute<Long> THREAD_ID =
      count("thread.id", "The thread that made the call, where the span is one call.");
  public static final Attribute<String> SOURCE =
      text(
          "inferspan.ebpf.source",
          "How the request was known: own_thread, http, inherited, cooperative or otel_map.");
  public static final Attribute<Long> RESULT =
      count("inferspan.ebpf.result", "What the call returned, where the span is one call.");

  public static final Attribute<Long> COUNT =
      count("inferspan.ebpf.count", "Like calls that this span stands for, where several.");
  public static final Attribute<Long> FAILURES =
      count("inferspan.ebpf.failures", "Calls among them that failed.");
  public static final Attribute<Long> DURATION_SUM_NS =
      count("inferspan.ebpf.duration.sum_ns", "Time in these calls, exact.");
  public static final Attribute<Long> DURATION_MIN_NS =
      count("inferspan.ebpf.duration.min_ns", "The shortest of them.");
  public static final Attribute<Long> DURATION_P50_NS =
      count("inferspan.ebpf.duration.p50_ns", "Their median; within 3.2 % from 65 calls on.");
  public static final Attribute<Long> DURATION_P99_NS =
      count("inferspan.ebpf.duration.p99_ns", "Their 99th percentile; within 3.2 % likewise.");
  public static final Attribute<Long> DURATION_MAX_NS =
      count("inferspan.ebpf.duration.max_ns", "The longest of them.");
  public static final Attribute<Long> FIRST_OFFSET_NS =
      count("inferspan.ebpf.offset.first_ns", "From the request's begin to the first of them.");
  public static final Attribute<Long> LAST_OFFSET_NS =
      count("inferspan.ebpf.offset.last_ns", "From the request's begin to the last of them.");

  public static final Attribute<Long> DROPPED =
      count("inferspan.ebpf.dropped", "Events of any request lost while the span ran.");
  public static final Attribute<Double> COVERAGE =
      number(
          "inferspan.ebpf.coverage",
          "Share of the events of that time that were not lost, or of that time that probes were on.");

  public static final Attribute<Long> BYTES =
      count("inferspan.ebpf.bytes", "Bytes moved, allocated or mapped.");
  public static final Attribute<Long> ELEMENTS =
      count("inferspan.ebpf.elements", "Elements given to the collective.");
  public static final Attribute<Long> BLOCKS =
      count("inferspan.ebpf.cuda.blocks", "Thread blocks of the grids launched.");
  public static final Attribute<String> STREAM =
      text("inferspan.ebpf.cuda.stream", "A short name of the CUDA stream, the same for one life.");
  public static final Attribute<String> DATA_TYPE =
      text("inferspan.ebpf.nccl.data_type", "The type of the elements.");
  public static final Attribute<String> REDUCTION =
      text("inferspan.ebpf.nccl.reduction", "How elements are combined.");
  public static final Attribute<String> COMMUNICATOR =
      text("inferspan.ebpf.nccl.communicator", "A short name of the communicator, likewise.");
  public static final Attribute<String> FD_KIND =
      text("inferspan.ebpf.fd.kind", "What was read or written: file, inet, unix, pipe or other.");
  public static final Attribute<String> THREAD_STATE =
      text(
          "inferspan.ebpf.thread.state",
          "Why the thread did not run: its state, or how it came to wait for a CPU.");
  public static final Attribute<String> THREAD_SYSCALL =
      text(
          "inferspan.ebpf.thread.syscall",
          "The system call that the thread was in, where it is one that a request waits for.");
  public static final Attribute<String> FILE_PLACE =
      text("inferspan.ebpf.file.place", "The kind of directory that the file is in.");
  public static final Attribute<String> FILE_EXTENSION =
      text("inferspan.ebpf.file.extension", "The file's extension, where it is a common one.");
  public static final Attribute<String> FILE_PATH =
      text("file.path", "The path, only where the user allows paths.");
  public static final Attribute<String> OPERATION =
      text("inferspan.ebpf.ckp.operation", "The name that the engine gave its operation.");
  public static final Attribute<Long> OPERATION_ID =
      count(
          "inferspan.ebpf.ckp.operation.id",
          "The number that the engine gave its operation, where the span is one call.");

  private KernelAttributes() {}
}
