package io.inferspan.kvcache.index;

/**
 * A pod that holds a block, and where.
 *
 * @param pod the pod's identity, usually {@code ip:port}
 * @param tier where in the pod, in lower case: {@code gpu}, {@code cpu} …
 * @param speculative whether a router expects it, and no engine has told of it yet
 * @param grouped whether the engine said to which group of caches it belongs
 * @param group that group, 0 where it said none
 */
public record PodEntry(String pod, String tier, boolean speculative, boolean grouped, int group) {

  /** A block that an engine without cache groups told of. */
  public static PodEntry of(String pod, String tier) {
    return new PodEntry(pod, tier, false, false, 0);
  }
}
