package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.KernelVersion;
import java.nio.file.Path;
import java.util.Set;

/**
 * What is wanted of the kernel side.
 *
 * @param objects names of the objects that are wanted beside those that are always needed
 * @param ringBytes the room for events
 * @param features what this kernel does for this process
 * @param version the kernel's version
 * @param sharing what is done with contexts that other programs share
 */
public record KernelWish(
    Set<String> objects,
    int ringBytes,
    KernelFeatures features,
    KernelVersion version,
    Sharing sharing) {

  /**
   * What is done with the map of shared contexts.
   *
   * @param bpfFilesystem below which it is
   * @param read whether contexts of others count
   * @param publish whether ours are told
   */
  public record Sharing(Path bpfFilesystem, boolean read, boolean publish) {

    /** Neither. */
    public static Sharing none() {
      return new Sharing(Path.of("/sys/fs/bpf"), false, false);
    }
  }

  /** Copies the names. */
  public KernelWish {
    objects = Set.copyOf(objects);
  }
}
