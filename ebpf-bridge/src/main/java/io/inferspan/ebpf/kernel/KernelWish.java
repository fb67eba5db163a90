package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.KernelFeatures;
import io.inferspan.ebpf.linux.KernelVersion;
import java.util.Set;

/**
 * What is wanted of the kernel side.
 *
 * @param objects names of the objects that are wanted beside those that are always needed
 * @param ringBytes the room for events
 * @param features what this kernel does for this process
 * @param version the kernel's version
 */
public record KernelWish(
    Set<String> objects, int ringBytes, KernelFeatures features, KernelVersion version) {

  /** Copies the names. */
  public KernelWish {
    objects = Set.copyOf(objects);
  }
}
