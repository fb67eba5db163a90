package io.inferspan.pd.allow;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.inferspan.pd.config.HostText;
import io.inferspan.pd.net.FileWatch;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A list from settings and, optionally, from a file that may change at any time.
 *
 * <p>An entry is a host name, an IP address or a range ({@code 10.0.0.0/8}). The file has one entry
 * per line and comments after {@code #}. If the file becomes unusable, the last list stays in use.
 */
final class StaticAllowList implements AllowList {
  private static final System.Logger LOG = System.getLogger(StaticAllowList.class.getName());

  private final List<String> settings;
  private final @Nullable FileWatch watch;
  private volatile Entries entries;

  /** The entries of all sources; not changed after reading. */
  private record Entries(Set<String> hosts, List<Range> ranges) {}

  /** A range of IP addresses, which have a common prefix. */
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

  private StaticAllowList(List<String> settings, @Nullable Path file) {
    this.settings = List.copyOf(settings);
    this.watch = file == null ? null : new FileWatch(List.of(file));
    this.entries = read(file);
  }

  /**
   * Returns a list of the settings' entries and those of {@code file}.
   *
   * @throws IllegalArgumentException with one sentence, if an entry or the file is invalid
   */
  static StaticAllowList of(List<String> entries, @Nullable Path file) {
    StaticAllowList list = new StaticAllowList(entries, file);
    if (list.watch != null && file != null) {
      list.watch.start("inferspan-pd-allow-list", () -> list.reload(file));
    }
    return list;
  }

  @Override
  public boolean allows(String hostPort) {
    String host = HostText.ofTarget(hostPort);
    Entries current = entries;
    if (host == null || current.hosts.contains(host)) {
      return host != null;
    }
    byte[] address = current.ranges.isEmpty() ? null : HostText.address(host);
    return address != null && current.ranges.stream().anyMatch(range -> range.contains(address));
  }

  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
  }

  private void reload(Path file) {
    try {
      entries = read(file);
      int size = entries.hosts.size() + entries.ranges.size();
      LOG.log(INFO, "Reloaded " + file + ": the allow-list now has " + size + " entries.");
    } catch (IllegalArgumentException e) {
      LOG.log(WARNING, e.getMessage() + " The old list stays in use.");
    }
  }

  private Entries read(@Nullable Path file) {
    Entries read = new Entries(new HashSet<>(), new ArrayList<>());
    settings.forEach(entry -> add(read, entry.strip(), "the allow-list setting"));
    if (file != null) {
      lines(file).forEach(entry -> add(read, entry.strip(), file.toString()));
    }
    return read;
  }

  private static void add(Entries entries, String entry, String source) {
    boolean bracketed = entry.startsWith("[") && entry.endsWith("]");
    String bare = bracketed ? entry.substring(1, entry.length() - 1) : entry;
    if (!HostText.isEntry(bare) || (bracketed && bare.indexOf('/') >= 0)) {
      throw new IllegalArgumentException(
          "'%s' in %s is not a valid entry; an entry is a host name, an IP address or a range such"
                  .formatted(entry, source)
              + " as 10.0.0.0/8, without a port.");
    }
    int slash = bare.indexOf('/');
    byte[] network = slash < 0 ? null : HostText.address(bare.substring(0, slash));
    String host = HostText.of(bare);
    if (network != null) {
      entries.ranges.add(Range.of(network, Integer.parseInt(bare.substring(slash + 1))));
    } else if (host != null) {
      entries.hosts.add(host);
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .map(line -> line.indexOf('#') < 0 ? line : line.substring(0, line.indexOf('#')))
          .filter(line -> !line.isBlank())
          .toList();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "The allow-list file %s cannot be read (%s); it holds one entry per line."
              .formatted(file, e.getClass().getSimpleName()));
    }
  }
}
