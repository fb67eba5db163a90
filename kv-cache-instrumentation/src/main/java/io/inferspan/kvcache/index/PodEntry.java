package io.inferspan.kvcache.index;

/**
 * A holder of a block: a pod, and the memory tier in which it has the block.
 *
 * @param pod the pod's identity, usually {@code ip:port}
 * @param tier the tier in lower case: {@code gpu}, {@code cpu} …
 * @param speculative whether a router predicted the block and no engine has reported it yet
 * @param grouped whether the engine named a cache group, which is a set of model layers that share
 *     block tables
 * @param group the cache group; 0 if the engine named none
 */
public record PodEntry(String pod, String tier, boolean speculative, boolean grouped, int group) {

  /** Creates the holder of a block from an engine without cache groups. */
  public static PodEntry of(String pod, String tier) {
    return new PodEntry(pod, tier, false, false, 0);
  }
}
