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
  /** {@link UprobeMode#MULTI}. */
  UPROBE_MULTI,
  /** {@link UprobeMode#SESSION}. */
  UPROBE_SESSION,
  /** {@link UprobeMode#PERF}. */
  PERF_UPROBES
}
