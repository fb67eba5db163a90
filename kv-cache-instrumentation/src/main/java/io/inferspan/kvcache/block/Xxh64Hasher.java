package io.inferspan.kvcache.block;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Computes block keys with {@code xxh64}: XXH64 over parent and tokens, both little-endian, and
 * then the extras.
 */
final class Xxh64Hasher implements BlockHasher {

  private final XxHash64 hash = new XxHash64();
  private final long init;

  Xxh64Hasher(byte[] seed) {
    hash.update(seed);
    this.init = hash.finish();
  }

  @Override
  public long root(String model) {
    hash.update(init);
    updateExtra(model);
    return hash.finish();
  }

  @Override
  public long next(long parent, int[] tokens, int from, int to, List<String> extras) {
    hash.update(parent);
    hash.update(tokens, from, to);
    if (!extras.isEmpty()) {
      extras.forEach(this::updateExtra);
    }
    return hash.finish();
  }

  private void updateExtra(String extra) {
    byte[] utf8 = extra.getBytes(StandardCharsets.UTF_8);
    hash.update((long) utf8.length);
    hash.update(utf8);
  }
}
