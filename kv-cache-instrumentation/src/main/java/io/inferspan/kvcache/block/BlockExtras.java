package io.inferspan.kvcache.block;

import java.util.ArrayList;
import java.util.List;

/**
 * The content of blocks in addition to tokens: the hashes of images and audio that overlap a block,
 * and the salt by which a request keeps its blocks private.
 */
public final class BlockExtras {

  private static final BlockExtras NONE = new BlockExtras(List.of(), false, "");

  private final List<List<String>> hashes;
  private final boolean perBlock;
  private final String cacheSalt;

  private BlockExtras(List<List<String>> hashes, boolean perBlock, String cacheSalt) {
    this.hashes = hashes;
    this.perBlock = perBlock;
    this.cacheSalt = cacheSalt;
  }

  /** Returns extras for blocks that contain only tokens. */
  public static BlockExtras none() {
    return NONE;
  }

  /**
   * Returns extras with the multimodal hashes of each block.
   *
   * @param hashes one list for each full block, empty for most, in the order of the prompt
   */
  public static BlockExtras ofBlocks(List<List<String>> hashes) {
    return new BlockExtras(hashes.stream().map(List::copyOf).toList(), true, "");
  }

  /** Returns the same extras with a request's {@code cache_salt}; an empty one counts as none. */
  public BlockExtras withCacheSalt(String salt) {
    return new BlockExtras(hashes, perBlock, salt);
  }

  /** Rejects a number of lists that differs from the number of blocks: keys would be wrong. */
  void check(int blocks) {
    if (perBlock && hashes.size() != blocks) {
      throw new IllegalArgumentException(
          "Extras are given for "
              + hashes.size()
              + " blocks, but the tokens fill "
              + blocks
              + "; there must be one list for each");
    }
  }

  /** Returns the extras of a block, with the salt if it is the {@code first} block of a prompt. */
  List<String> at(int block, boolean first) {
    List<String> own = perBlock ? hashes.get(block) : List.of();
    return first && !cacheSalt.isEmpty() ? salted(own) : own;
  }

  private List<String> salted(List<String> own) {
    List<String> salted = new ArrayList<>(own);
    salted.add(cacheSalt);
    return salted;
  }
}
