package io.inferspan.ebpf.libbpf.feature;

import io.inferspan.ebpf.libbpf.UprobeMode;

/** What the bridge tries out, since versions and privileges do not tell all. */
public enum KernelFeature {
  /** {@code bpf(2)} makes a map. */
  MAPS,
  /** The kernel takes a tracing program. */
  PROGRAMS,
  /** One ring for all processors (Linux 5.8). */
  RING_BUFFER,
  /** Memory that belongs to a thread (Linux 5.13 for programs such as ours). */
  TASK_STORAGE,
  /** {@link UprobeMode#MULTI}. */
  UPROBE_MULTI,
  /** {@link UprobeMode#SESSION}. */
  UPROBE_SESSION,
  /** {@link UprobeMode#PERF}. */
  PERF_UPROBES
}
