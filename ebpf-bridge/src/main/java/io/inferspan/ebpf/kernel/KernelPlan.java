package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.KernelVersion;
import java.nio.file.Path;
import java.util.Set;

/**
 * What to load into the kernel: objects, ring and sharing of contexts.
 *
 * @param objects the names of the optional objects to load
 * @param ringBytes the size of the event ring
 * @param features the features that this kernel offers to this process
 * @param version the kernel's version
 * @param sharing whether contexts are exchanged with other tools
 */
public record KernelPlan(
    Set<String> objects,
    int ringBytes,
    KernelFeatures features,
    KernelVersion version,
    Sharing sharing) {

  /**
   * The use of the map of shared contexts.
   *
   * @param bpfFilesystem the BPF filesystem that holds it
   * @param read whether contexts of other tools are used
   * @param publish whether the bridge's contexts are published
   */
  public record Sharing(Path bpfFilesystem, boolean read, boolean publish) {

    /** Returns the value for no sharing. */
    public static Sharing none() {
      return new Sharing(Path.of("/sys/fs/bpf"), false, false);
    }
  }

  /** Copies the names. */
  public KernelPlan {
    objects = Set.copyOf(objects);
  }
}
