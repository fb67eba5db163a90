package io.inferspan.ebpf.libbpf.feature;

import io.inferspan.ebpf.libbpf.UprobeMode;

/**
 * A kernel feature that the bridge probes, because neither version nor privileges determine whether
 * it works.
 */
public enum KernelFeature {
  /** {@code bpf(2)} creates a map. */
  MAPS,
  /** The kernel accepts a tracing program. */
  PROGRAMS,
  /** A ring buffer shared by all CPUs (Linux 5.8). */
  RING_BUFFER,
  /** Task storage (Linux 5.13 for programs such as ours). */
  TASK_STORAGE,
  /** {@link UprobeMode#MULTI}. */
  UPROBE_MULTI,
  /** {@link UprobeMode#SESSION}. */
  UPROBE_SESSION,
  /** {@link UprobeMode#PERF}. */
  PERF_UPROBES
}
