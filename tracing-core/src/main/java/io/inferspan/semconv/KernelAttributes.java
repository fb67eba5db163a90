package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of spans that the eBPF bridge creates: CUDA, NCCL, system calls, waits. */
public final class KernelAttributes {

  /** The process id (PID). */
  public static final Attribute<Long> PROCESS_ID = count("process.pid");

  /** The file name of the process's executable. */
  public static final Attribute<String> EXECUTABLE = text("process.executable.name");

  /** The id of the process's container, from its cgroup. */
  public static final Attribute<String> CONTAINER_ID = text("container.id");

  /** The UID of the process's Kubernetes pod, from its cgroup. */
  public static final Attribute<String> POD_UID = text("k8s.pod.uid");

  /** The thread that made the call; only if the span is a single call. */
  public static final Attribute<Long> THREAD_ID = count("thread.id");

  /**
   * How the bridge found the request that the call belongs to: {@code own_thread}, {@code http},
   * {@code connection}, {@code inherited}, {@code cooperative}, {@code otel_map} or {@code
   * process}.
   */
  public static final Attribute<String> SOURCE = text("inferspan.ebpf.source");

  /** The return value of the call; only if the span is a single call. */
  public static final Attribute<Long> RESULT = count("inferspan.ebpf.result");

  /** The number of calls that a folded span or a phase represents. */
  public static final Attribute<Long> COUNT = count("inferspan.ebpf.count");

  /** The number of folded calls that failed. */
  public static final Attribute<Long> FAILURES = count("inferspan.ebpf.failures");

  /** The sum of the durations of the folded calls, exact. */
  public static final Attribute<Long> DURATION_SUM_NS = count("inferspan.ebpf.duration.sum_ns");

  /** The shortest duration of the folded calls. */
  public static final Attribute<Long> DURATION_MIN_NS = count("inferspan.ebpf.duration.min_ns");

  /** The median duration of the folded calls; above 64 calls, accurate to 3.2 %. */
  public static final Attribute<Long> DURATION_P50_NS = count("inferspan.ebpf.duration.p50_ns");

  /**
   * The 99th percentile of the durations of the folded calls; above 64 calls, accurate to 3.2 %.
   */
  public static final Attribute<Long> DURATION_P99_NS = count("inferspan.ebpf.duration.p99_ns");

  /** The longest duration of the folded calls. */
  public static final Attribute<Long> DURATION_MAX_NS = count("inferspan.ebpf.duration.max_ns");

  /** Nanoseconds from the request's start to the first folded call. */
  public static final Attribute<Long> FIRST_OFFSET_NS = count("inferspan.ebpf.offset.first_ns");

  /** Nanoseconds from the request's start to the last folded call. */
  public static final Attribute<Long> LAST_OFFSET_NS = count("inferspan.ebpf.offset.last_ns");

  /**
   * The number of events that are missing: events of any request that were lost during the span,
   * and events of this request that were only counted or that a capture policy dropped.
   */
  public static final Attribute<Long> DROPPED = count("inferspan.ebpf.dropped");

  /**
   * The share of events that were reported, multiplied by the share of the time during which the
   * probes were attached; absent if nothing is missing.
   */
  public static final Attribute<Double> COVERAGE = number("inferspan.ebpf.coverage");

  /**
   * Why some work of the request is missing: {@code loop} (other requests were open on its event
   * loop), {@code threads} (other threads write the responses) or {@code other_work} (its thread
   * also served other connections).
   */
  public static final Attribute<String> SHARED = text("inferspan.ebpf.shared");

  /**
   * The number of operations of the process, during the request, that may belong to this request or
   * to another one.
   */
  public static final Attribute<Long> UNATTRIBUTED = count("inferspan.ebpf.unattributed");

  /**
   * The event classes that were not reported in full during the request, each with its lowest
   * level, such as {@code sched:detached}.
   */
  public static final Attribute<String> LEVEL = text("inferspan.ebpf.level");

  /**
   * The generation of the capture policy that kept the call or, on a folded span, that folded the
   * last call.
   */
  public static final Attribute<Long> POLICY_GENERATION = count("inferspan.ebpf.policy.generation");

  /** The number of bytes transferred, allocated or mapped. */
  public static final Attribute<Long> BYTES = count("inferspan.ebpf.bytes");

  /** The number of elements passed to the NCCL operation. */
  public static final Attribute<Long> ELEMENTS = count("inferspan.ebpf.elements");

  /** The number of thread blocks in the launched grids. */
  public static final Attribute<Long> BLOCKS = count("inferspan.ebpf.cuda.blocks");

  /** A short name of the CUDA stream, unique during the stream's lifetime. */
  public static final Attribute<String> STREAM = text("inferspan.ebpf.cuda.stream");

  /** The NCCL data type of the elements. */
  public static final Attribute<String> DATA_TYPE = text("inferspan.ebpf.nccl.data_type");

  /** The NCCL reduction operator. */
  public static final Attribute<String> REDUCTION = text("inferspan.ebpf.nccl.reduction");

  /** A short name of the NCCL communicator. */
  public static final Attribute<String> COMMUNICATOR = text("inferspan.ebpf.nccl.communicator");

  /** The rank that executed the NCCL operation. */
  public static final Attribute<Long> RANK = count("inferspan.ebpf.nccl.rank");

  /** The number of ranks in the communicator. */
  public static final Attribute<Long> RANKS = count("inferspan.ebpf.nccl.ranks");

  /** The other rank of a send or receive. */
  public static final Attribute<Long> PEER = count("inferspan.ebpf.nccl.peer");

  /**
   * The sequence number of the operation in its communicator; a collective has the same number on
   * all ranks.
   */
  public static final Attribute<Long> SEQUENCE = count("inferspan.ebpf.nccl.sequence");

  /** The algorithm and protocol of the collective, such as {@code Ring/LL128}. */
  public static final Attribute<String> ALGORITHM = text("inferspan.ebpf.nccl.algorithm");

  /** The bus bandwidth in GB/s, which is comparable between different numbers of ranks. */
  public static final Attribute<Double> BUS_BANDWIDTH =
      number("inferspan.ebpf.nccl.bus_bandwidth_gbs");

  /**
   * How NCCL's inspector measured the execution time: {@code kernel_gpu}, {@code kernel_cpu} or
   * {@code collective_cpu}.
   */
  public static final Attribute<String> TIMING_SOURCE = text("inferspan.ebpf.nccl.timing_source");

  /**
   * How far the host's clock was ahead of the clock of the first rank's host, in milliseconds; the
   * span's times are corrected by it.
   */
  public static final Attribute<Double> CLOCK_OFFSET_MS = number("clock.offset_ms");

  /** The maximum error of {@code clock.offset_ms}, in milliseconds. */
  public static final Attribute<Double> CLOCK_ERROR_MS = number("clock.error_ms");

  /**
   * The number of collectives that, by corrected clocks, ended on one host before another host had
   * enqueued them.
   */
  public static final Attribute<Long> CLOCK_VIOLATIONS = count("clock.order_violations");

  /** The latency of the last collective of this kind that nccl-eBPF's policy observed. */
  public static final Attribute<Long> POLICY_LAST_NS = count("inferspan.ebpf.nccl.policy.last_ns");

  /** The moving average of the latencies of collectives of this kind, from nccl-eBPF's policy. */
  public static final Attribute<Long> POLICY_AVERAGE_NS =
      count("inferspan.ebpf.nccl.policy.average_ns");

  /** The 99th percentile of the latencies of collectives of this kind, from nccl-eBPF's policy. */
  public static final Attribute<Long> POLICY_P99_NS = count("inferspan.ebpf.nccl.policy.p99_ns");

  /** The target of nccl-eBPF's policy for the 99th percentile. */
  public static final Attribute<Long> POLICY_TARGET_NS =
      count("inferspan.ebpf.nccl.policy.target_p99_ns");

  /** The number of collectives of this kind that nccl-eBPF's policy has observed. */
  public static final Attribute<Long> POLICY_SAMPLES = count("inferspan.ebpf.nccl.policy.samples");

  /** The number of channels that nccl-eBPF's policy recommends. */
  public static final Attribute<Long> POLICY_CHANNELS =
      count("inferspan.ebpf.nccl.policy.channels");

  /**
   * The CPU contention that nccl-eBPF's observer found: {@code none}, {@code saturation} or {@code
   * cpuset_limited}.
   */
  public static final Attribute<String> CPU_CONTENTION = text("inferspan.ebpf.nccl.cpu.contention");

  /** Context switches per second of the process that nccl-eBPF's observer watches. */
  public static final Attribute<Long> CPU_SWITCHES =
      count("inferspan.ebpf.nccl.cpu.switches_per_second");

  /** The number of CPUs on which the process that nccl-eBPF's observer watches has run. */
  public static final Attribute<Long> CPU_COUNT = count("inferspan.ebpf.nccl.cpu.count");

  /** The host of the rank. */
  public static final Attribute<String> HOST = text("host.name");

  /**
   * The kind of file descriptor: {@code file}, {@code inet}, {@code unix}, {@code pipe} or {@code
   * other}.
   */
  public static final Attribute<String> FD_KIND = text("inferspan.ebpf.fd.kind");

  /**
   * Why the thread did not run: the state in which it waited; for a runnable thread, {@code woken}
   * or {@code preempted}.
   */
  public static final Attribute<String> THREAD_STATE = text("inferspan.ebpf.thread.state");

  /** The system call in which the thread waited. */
  public static final Attribute<String> THREAD_SYSCALL = text("inferspan.ebpf.thread.syscall");

  /**
   * The kind of directory that contains the file, such as {@code system}, {@code home} or {@code
   * data}.
   */
  public static final Attribute<String> FILE_PLACE = text("inferspan.ebpf.file.place");

  /** The file's extension; {@code other} if it is not a common one. */
  public static final Attribute<String> FILE_EXTENSION = text("inferspan.ebpf.file.extension");

  /** The path of the file; only with {@code INFERSPAN_EBPF_PATHS}. */
  public static final Attribute<String> FILE_PATH = text("file.path");

  /** The name that the engine gave to the operation. */
  public static final Attribute<String> OPERATION = text("inferspan.ebpf.ckp.operation");

  /** The number that the engine gave to the operation; only if the span is a single call. */
  public static final Attribute<Long> OPERATION_ID = count("inferspan.ebpf.ckp.operation.id");

  /**
   * What ended the start: an answer of the server's URL ({@code url}), a line of its output ({@code
   * log}), its exit ({@code exit}) or the user ({@code interrupted}).
   */
  public static final Attribute<String> READY = text("llm_d.cold_start.ready");

  /**
   * Milliseconds that belong to this phase or gap, without those that belong to another phase; on
   * the root span, the sum over all phases.
   */
  public static final Attribute<Double> OWN_MS = number("llm_d.cold_start.own_ms");

  private KernelAttributes() {}
}
