package io.inferspan.pd.allow;

import org.jspecify.annotations.Nullable;

/** A range of IP addresses: those that share the first bits of one. */
final class Cidr {
  private final byte[] network;
  private final int prefixBits;

  private Cidr(byte[] network, int prefixBits) {
    this.network = network;
    this.prefixBits = prefixBits;
  }

  /** The range that {@code text} writes as {@code address/bits}, or null where it is none. */
  static @Nullable Cidr parse(String text) {
    int slash = text.indexOf('/');
    byte[] network = slash < 0 ? null : HostText.address(text.substring(0, slash));
    if (network == null || !text.substring(slash + 1).matches("\\d{1,3}")) {
      return null;
    }
    int bits = Integer.parseInt(text.substring(slash + 1));
    return bits > network.length * Byte.SIZE ? null : new Cidr(network, bits);
  }

  boolean contains(byte[] address) {
    if (address.length != network.length) {
      return false;
    }
    int bytes = prefixBits / Byte.SIZE;
    for (int i = 0; i < bytes; i++) {
      if (address[i] != network[i]) {
        return false;
      }
    }
    int rest = prefixBits % Byte.SIZE;
    return rest == 0 || ((address[bytes] ^ network[bytes]) & 0xff) >>> (Byte.SIZE - rest) == 0;
  }
}
