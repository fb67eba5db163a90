package io.inferspan.pd.allow;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A list of names, addresses and ranges at one moment. */
final class AllowEntries {
  private final Set<String> hosts = new HashSet<>();
  private final List<Cidr> ranges = new ArrayList<>();

  /**
   * Adds what {@code texts} say.
   *
   * @param source where they are from, for the sentence that refuses one
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
    if (entry.indexOf('/') >= 0) {
      Cidr range = Cidr.parse(entry);
      return range != null && ranges.add(range);
    }
    boolean bracketed = entry.startsWith("[") && entry.endsWith("]");
    String host = HostText.of(bracketed ? entry.substring(1, entry.length() - 1) : entry);
    if (host != null) {
      hosts.add(host);
    }
    return host != null;
  }
}
