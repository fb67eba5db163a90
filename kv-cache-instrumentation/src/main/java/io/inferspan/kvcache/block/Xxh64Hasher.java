package io.inferspan.kvcache.block;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The chain {@code xxh64}: XXH64 over parent, tokens and extras as little-endian numbers. */
final class Xxh64Hasher implements BlockHasher {

  private final XxHash64 hash = new XxHash64();
  private final long init;

  Xxh64Hasher(byte[] seed) {
    hash.take(seed);
    this.init = hash.finish();
  }

  @Override
  public long root(String model) {
    hash.take(init);
    takeExtra(model);
    return hash.finish();
  }

  @Override
  public long next(long parent, int[] tokens, int from, int to, List<String> extras) {
    hash.take(parent);
    hash.take(tokens, from, to);
    if (!extras.isEmpty()) {
      extras.forEach(this::takeExtra);
    }
    return hash.finish();
  }

  private void takeExtra(String extra) {
    byte[] utf8 = extra.getBytes(StandardCharsets.UTF_8);
    hash.take((long) utf8.length);
    hash.take(utf8);
  }
}
