package io.inferspan.pd.allow;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** A range of IP addresses: those that share the first bits of one. */
final class Cidr {
  private final BigInteger network;
  private final int bits;
  private final int hostBits;

  private Cidr(byte[] network, int prefixBits) {
    this.network = new BigInteger(1, network);
    this.bits = network.length * Byte.SIZE;
    this.hostBits = bits - prefixBits;
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
    return address.length * Byte.SIZE == bits
        && network.xor(new BigInteger(1, address)).shiftRight(hostBits).signum() == 0;
  }
}
