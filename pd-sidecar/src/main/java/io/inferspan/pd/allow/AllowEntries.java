package io.inferspan.pd.allow;

import io.inferspan.pd.config.text.HostText;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An immutable list of names, addresses and ranges. */
final class AllowEntries {
  private final Set<String> hosts = new HashSet<>();
  private final List<Range> ranges = new ArrayList<>();

  /** The IP addresses with a common prefix. */
  private record Range(BigInteger network, int bits, int hostBits) {
    static Range of(byte[] network, int prefixBits) {
      int bits = network.length * Byte.SIZE;
      return new Range(new BigInteger(1, network), bits, bits - prefixBits);
    }

    boolean contains(byte[] address) {
      return address.length * Byte.SIZE == bits
          && network.xor(new BigInteger(1, address)).shiftRight(hostBits).signum() == 0;
    }
  }

  /**
   * Adds the entries in {@code texts}.
   *
   * @param source their source, for error messages
   */
  AllowEntries add(Collection<String> texts, String source) {
    for (String text : texts) {
      String entry = text.strip();
      if (!add(entry)) {
        throw new IllegalArgumentException(
            "'%s' in %s is not allowed; an entry is a host name, an IP address or a range such as"
                    .formatted(entry, source)
                + " 10.0.0.0/8, without a port.");
      }
    }
    return this;
  }

  boolean allow(@Nullable String host) {
    if (host == null) {
      return false;
    }
    if (hosts.contains(host)) {
      return true;
    }
    byte[] address = ranges.isEmpty() ? null : HostText.address(host);
    return address != null && ranges.stream().anyMatch(range -> range.contains(address));
  }

  int size() {
    return hosts.size() + ranges.size();
  }

  private boolean add(String entry) {
    boolean bracketed = entry.startsWith("[") && entry.endsWith("]");
    String bare = bracketed ? entry.substring(1, entry.length() - 1) : entry;
    if (!HostText.isEntry(bare) || (bracketed && bare.indexOf('/') >= 0)) {
      return false;
    }
    int slash = bare.indexOf('/');
    byte[] network = slash < 0 ? null : HostText.address(bare.substring(0, slash));
    String host = HostText.of(bare);
    if (network != null) {
      ranges.add(Range.of(network, Integer.parseInt(bare.substring(slash + 1))));
    } else if (host != null) {
      hosts.add(host);
    }
    return true;
  }
}
