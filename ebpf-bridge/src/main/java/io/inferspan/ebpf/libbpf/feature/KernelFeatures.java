package io.inferspan.ebpf.libbpf.feature;

import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.linux.Errno;
import java.util.EnumMap;
import java.util.Map;

/**
 * The features of this kernel that this process may use.
 *
 * @param errors the error number of each attempt; 0 or absent if it succeeded
 */
public record KernelFeatures(Map<KernelFeature, Integer> errors) {

  /** Copies the errors. */
  public KernelFeatures {
    errors = Map.copyOf(errors);
  }

  /** Probes all features; leaves nothing behind. */
  public static KernelFeatures probe() {
    Map<KernelFeature, Integer> errors = new EnumMap<>(KernelFeature.class);
    for (KernelFeature feature : KernelFeature.values()) {
      errors.put(feature, FeatureProbe.error(feature));
    }
    return new KernelFeatures(errors);
  }

  /** Returns whether the feature is available. */
  public boolean has(KernelFeature feature) {
    return error(feature) == 0;
  }

  /** Returns the error number; 0 if the feature is available. */
  public int error(KernelFeature feature) {
    return errors.getOrDefault(feature, 0);
  }

  /** Returns whether the feature exists but this process may not use it. */
  public boolean forbidden(KernelFeature feature) {
    return Errno.EPERM.is(error(feature)) || Errno.EACCES.is(error(feature));
  }

  /** Returns why no functions can be probed, and what to do; empty if they can be. */
  public String uprobeProblem() {
    return uprobes() != UprobeMode.PERF || has(KernelFeature.PERF_UPROBES)
        ? ""
        : "uprobes are not available, "
            + Errno.describe(error(KernelFeature.PERF_UPROBES))
            + ": run with CAP_SYS_ADMIN, or on Linux 6.6 or newer";
  }

  /** Returns the best way to attach to functions. */
  public UprobeMode uprobes() {
    if (has(KernelFeature.UPROBE_SESSION)) {
      return UprobeMode.SESSION;
    }
    return has(KernelFeature.UPROBE_MULTI) ? UprobeMode.MULTI : UprobeMode.PERF;
  }
}
