package io.inferspan.ebpf.libbpf.feature;

import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.linux.Errno;
import java.util.EnumMap;
import java.util.Map;

/**
 * What this kernel does for this process.
 *
 * @param errors the number of the error that trying gave; 0 or absent where it worked
 */
public record KernelFeatures(Map<KernelFeature, Integer> errors) {

  /** Copies the errors. */
  public KernelFeatures {
    errors = Map.copyOf(errors);
  }

  /** Tries all of them; leaves nothing behind. */
  public static KernelFeatures probe() {
    Map<KernelFeature, Integer> errors = new EnumMap<>(KernelFeature.class);
    for (KernelFeature feature : KernelFeature.values()) {
      errors.put(feature, FeatureProbe.error(feature));
    }
    return new KernelFeatures(errors);
  }

  /** Whether it worked. */
  public boolean has(KernelFeature feature) {
    return error(feature) == 0;
  }

  /** The error's number; 0 where it worked. */
  public int error(KernelFeature feature) {
    return errors.getOrDefault(feature, 0);
  }

  /** Whether trying was refused, rather than unknown to the kernel. */
  public boolean forbidden(KernelFeature feature) {
    return Errno.EPERM.is(error(feature)) || Errno.EACCES.is(error(feature));
  }

  /** The best way of attaching to functions. */
  public UprobeMode uprobes() {
    if (has(KernelFeature.UPROBE_SESSION)) {
      return UprobeMode.SESSION;
    }
    return has(KernelFeature.UPROBE_MULTI) ? UprobeMode.MULTI : UprobeMode.PERF;
  }
}
