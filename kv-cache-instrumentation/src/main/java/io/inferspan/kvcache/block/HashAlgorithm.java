package io.inferspan.kvcache.block;

/** The supported algorithms for block keys, by their names in llm-d's configuration. */
enum HashAlgorithm {
  CBOR_FNV("cbor-fnv"),
  XXH64("xxh64");

  private final String text;

  HashAlgorithm(String text) {
    this.text = text;
  }

  static HashAlgorithm parse(String text) {
    for (HashAlgorithm algorithm : values()) {
      if (algorithm.text.equals(text)) {
        return algorithm;
      }
    }
    throw new IllegalArgumentException("algorithm is '" + text + "'; it must be cbor-fnv or xxh64");
  }

  BlockHasher hasher(byte[] seed) {
    return switch (this) {
      case CBOR_FNV -> new CborFnvHasher(seed);
      case XXH64 -> new Xxh64Hasher(seed);
    };
  }
}
