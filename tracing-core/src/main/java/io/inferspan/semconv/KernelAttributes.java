package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of kernel events: calls, waits and copies under a request. */
public final class KernelAttributes {

  /** The process that made the call. */
  public static final Attribute<Long> PROCESS_ID = count("process.pid");

  /** The file name of the program that the process runs. */
  public static final Attribute<String> EXECUTABLE = text("process.executable.name");

  /** The container of the process, from its cgroup. */
  public static final Attribute<String> CONTAINER_ID = text("container.id");

  /** The Kubernetes pod of the process, from its cgroup. */
  public static final Attribute<String> POD_UID = text("k8s.pod.uid");

  /** The thread that made the call, if the span is a single call. */
  public static final Attribute<Long> THREAD_ID = count("thread.id");

  /**
   * The way in which the owner was found: own_thread, http, connection, inherited, cooperative,
   * otel_map or process.
   */
  public static final Attribute<String> SOURCE = text("inferspan.ebpf.source");

  /** The return value of the call, if the span is a single call. */
  public static final Attribute<Long> RESULT = count("inferspan.ebpf.result");

  /** The number of similar calls that this span represents, if more than one. */
  public static final Attribute<Long> COUNT = count("inferspan.ebpf.count");

  /** Calls among them that failed. */
  public static final Attribute<Long> FAILURES = count("inferspan.ebpf.failures");

  /** Time in these calls, exact. */
  public static final Attribute<Long> DURATION_SUM_NS = count("inferspan.ebpf.duration.sum_ns");

  /** The shortest of them. */
  public static final Attribute<Long> DURATION_MIN_NS = count("inferspan.ebpf.duration.min_ns");

  /** Their median; within 3.2 % from 65 calls on. */
  public static final Attribute<Long> DURATION_P50_NS = count("inferspan.ebpf.duration.p50_ns");

  /** Their 99th percentile, also within 3.2 %. */
  public static final Attribute<Long> DURATION_P99_NS = count("inferspan.ebpf.duration.p99_ns");

  /** The longest of them. */
  public static final Attribute<Long> DURATION_MAX_NS = count("inferspan.ebpf.duration.max_ns");

  /** From the request's start to the first of them. */
  public static final Attribute<Long> FIRST_OFFSET_NS = count("inferspan.ebpf.offset.first_ns");

  /** From the request's start to the last of them. */
  public static final Attribute<Long> LAST_OFFSET_NS = count("inferspan.ebpf.offset.last_ns");

  /**
   * Events of any request that were lost while the span ran, and calls of its request that a policy
   * dropped.
   */
  public static final Attribute<Long> DROPPED = count("inferspan.ebpf.dropped");

  /**
   * Share of the events of that time that were neither lost nor dropped by a policy, or of that
   * time that probes were on.
   */
  public static final Attribute<Double> COVERAGE = number("inferspan.ebpf.coverage");

  /**
   * The reason why some of the request's work is not attributed to it: loop, threads or other_work.
   */
  public static final Attribute<String> SHARED = text("inferspan.ebpf.shared");

  /** Operations of its process that may have been the request's or another's. */
  public static final Attribute<Long> UNATTRIBUTED = count("inferspan.ebpf.unattributed");

  /**
   * The classes of events that were not reported in full during the request, and their lowest
   * level.
   */
  public static final Attribute<String> LEVEL = text("inferspan.ebpf.level");

  /** The generation of the capture policy that kept the call, or folded the calls last. */
  public static final Attribute<Long> POLICY_GENERATION = count("inferspan.ebpf.policy.generation");

  /** Bytes moved, allocated or mapped. */
  public static final Attribute<Long> BYTES = count("inferspan.ebpf.bytes");

  /** Elements given to the collective. */
  public static final Attribute<Long> ELEMENTS = count("inferspan.ebpf.elements");

  /** Thread blocks of the grids launched. */
  public static final Attribute<Long> BLOCKS = count("inferspan.ebpf.cuda.blocks");

  /** A short name of the CUDA stream, unique during its lifetime. */
  public static final Attribute<String> STREAM = text("inferspan.ebpf.cuda.stream");

  /** The type of the elements. */
  public static final Attribute<String> DATA_TYPE = text("inferspan.ebpf.nccl.data_type");

  /** The reduction that combines the elements. */
  public static final Attribute<String> REDUCTION = text("inferspan.ebpf.nccl.reduction");

  /** A short name of the communicator. */
  public static final Attribute<String> COMMUNICATOR = text("inferspan.ebpf.nccl.communicator");

  /** The rank that took part in the operation. */
  public static final Attribute<Long> RANK = count("inferspan.ebpf.nccl.rank");

  /** The number of ranks of the communicator. */
  public static final Attribute<Long> RANKS = count("inferspan.ebpf.nccl.ranks");

  /** The rank at the other end of a transfer. */
  public static final Attribute<Long> PEER = count("inferspan.ebpf.nccl.peer");

  /** The operation's number in its communicator, the same on each rank of a collective. */
  public static final Attribute<Long> SEQUENCE = count("inferspan.ebpf.nccl.sequence");

  /** The algorithm and the protocol of the collective, such as Ring/LL128. */
  public static final Attribute<String> ALGORITHM = text("inferspan.ebpf.nccl.algorithm");

  /** Bandwidth that the hardware's links had, in GB/s; comparable between numbers of ranks. */
  public static final Attribute<Double> BUS_BANDWIDTH =
      number("inferspan.ebpf.nccl.bus_bandwidth_gbs");

  /** The clock of an execution time: kernel_gpu, kernel_cpu or collective_cpu. */
  public static final Attribute<String> TIMING_SOURCE = text("inferspan.ebpf.nccl.timing_source");

  /**
   * How far the clock of the host was ahead of that of the first rank's; its times are corrected.
   */
  public static final Attribute<Double> CLOCK_OFFSET_MS = number("clock.offset_ms");

  /** The most that this offset can be off. */
  public static final Attribute<Double> CLOCK_ERROR_MS = number("clock.error_ms");

  /** Collectives that ended on one host, by corrected clocks, before another enqueued them. */
  public static final Attribute<Long> CLOCK_VIOLATIONS = count("clock.order_violations");

  /** Latency of like collectives that nccl-eBPF's policy knows: of the last, in nanoseconds. */
  public static final Attribute<Long> POLICY_LAST_NS = count("inferspan.ebpf.nccl.policy.last_ns");

  /** The moving average of that latency. */
  public static final Attribute<Long> POLICY_AVERAGE_NS =
      count("inferspan.ebpf.nccl.policy.average_ns");

  /** The 99th percentile of that latency. */
  public static final Attribute<Long> POLICY_P99_NS = count("inferspan.ebpf.nccl.policy.p99_ns");

  /** The policy's target for the 99th percentile. */
  public static final Attribute<Long> POLICY_TARGET_NS =
      count("inferspan.ebpf.nccl.policy.target_p99_ns");

  /** The number of collectives that the policy has seen. */
  public static final Attribute<Long> POLICY_SAMPLES = count("inferspan.ebpf.nccl.policy.samples");

  /** The number of channels that the policy recommends. */
  public static final Attribute<Long> POLICY_CHANNELS =
      count("inferspan.ebpf.nccl.policy.channels");

  /** The CPU contention that nccl-eBPF's observer found: none, saturation or cpuset_limited. */
  public static final Attribute<String> CPU_CONTENTION = text("inferspan.ebpf.nccl.cpu.contention");

  /** Context switches per second of the observed process's threads. */
  public static final Attribute<Long> CPU_SWITCHES =
      count("inferspan.ebpf.nccl.cpu.switches_per_second");

  /** The number of CPUs on which these threads ran. */
  public static final Attribute<Long> CPU_COUNT = count("inferspan.ebpf.nccl.cpu.count");

  /** The host of the process, in spans of several hosts. */
  public static final Attribute<String> HOST = text("host.name");

  /** The kind of descriptor that was read or written: file, inet, unix, pipe or other. */
  public static final Attribute<String> FD_KIND = text("inferspan.ebpf.fd.kind");

  /** The reason why the thread did not run: its state, or how it came to wait for a CPU. */
  public static final Attribute<String> THREAD_STATE = text("inferspan.ebpf.thread.state");

  /** The system call in which the thread waited. */
  public static final Attribute<String> THREAD_SYSCALL = text("inferspan.ebpf.thread.syscall");

  /** The kind of directory that the file is in. */
  public static final Attribute<String> FILE_PLACE = text("inferspan.ebpf.file.place");

  /** The file's extension, if it is a common one. */
  public static final Attribute<String> FILE_EXTENSION = text("inferspan.ebpf.file.extension");

  /** The path, only where the user allows paths. */
  public static final Attribute<String> FILE_PATH = text("file.path");

  /** The name that the engine gave its operation. */
  public static final Attribute<String> OPERATION = text("inferspan.ebpf.ckp.operation");

  /** The number that the engine gave its operation, if the span is a single call. */
  public static final Attribute<Long> OPERATION_ID = count("inferspan.ebpf.ckp.operation.id");

  /** The event that ended the start of a model server: url, log, exit or interrupted. */
  public static final Attribute<String> READY = text("llm_d.cold_start.ready");

  /**
   * Time that belongs to this phase, without interruptions by others; on the span of the start, to
   * any phase.
   */
  public static final Attribute<Double> OWN_MS = number("llm_d.cold_start.own_ms");

  private KernelAttributes() {}
}
