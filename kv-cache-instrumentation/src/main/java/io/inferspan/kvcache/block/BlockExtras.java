package io.inferspan.kvcache.block;

import java.util.ArrayList;
import java.util.List;

/**
 * What makes a block's content beside its tokens: the images and sounds that overlap it, and the
 * salt by which a request keeps its blocks to itself.
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

  /** Tokens are all there is. */
  public static BlockExtras none() {
    return NONE;
  }

  /**
   * The multimodal hashes of each block.
   *
   * @param hashes one list for each full block, empty for most, in the order of the prompt
   */
  public static BlockExtras ofBlocks(List<List<String>> hashes) {
    return new BlockExtras(hashes.stream().map(List::copyOf).toList(), true, "");
  }

  /** The same with a request's {@code cache_salt}; an empty one is none. */
  public BlockExtras withCacheSalt(String salt) {
    return new BlockExtras(hashes, perBlock, salt);
  }

  /** Refuses lists that are not of so many blocks, which would name other blocks. */
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

  /** The extras of a block; {@code first} where no other is before it in its chain. */
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
