package io.inferspan.setup;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The callers whose traces are continued: all, or those with an address in the given networks. */
public final class TrustedCallers {

  private static final String SETTING = "inferspan.trusted.callers";
  private static final String ALL = "all";
  private static final String NONE = "none";

  /** An IP address literal, which {@link InetAddress#getByName} parses without a DNS lookup. */
  private static final Pattern LITERAL =
      Pattern.compile(
          "((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(?!$)|$)){4}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

  /**
   * The networks, each as its address and a byte with the prefix length; null trusts all callers.
   */
  private final @Nullable List<byte[]> networks;

  private TrustedCallers(@Nullable List<byte[]> networks) {
    this.networks = networks;
  }

  /** Reads {@code INFERSPAN_TRUSTED_CALLERS}. */
  public static TrustedCallers of(Settings settings) {
    String setting = settings.find(SETTING);
    if (setting == null || setting.equals(ALL)) {
      return new TrustedCallers(null);
    }
    if (setting.equals(NONE)) {
      return new TrustedCallers(List.of());
    }
    return new TrustedCallers(
        settings.list(SETTING).stream().map(text -> required(text, setting)).toList());
  }

  private static byte[] required(String text, String setting) {
    int slash = text.indexOf('/');
    String address = slash < 0 ? text : text.substring(0, slash);
    try {
      if (LITERAL.matcher(address).matches()) {
        byte[] first = InetAddress.getByName(address).getAddress();
        int all = first.length * Byte.SIZE;
        int bits = slash < 0 ? all : Integer.parseUnsignedInt(text.substring(slash + 1));
        if (bits >= 0 && bits <= all) {
          byte[] network = Arrays.copyOf(first, first.length + 1);
          network[first.length] = (byte) bits;
          return network;
        }
      }
    } catch (UnknownHostException | NumberFormatException e) {
      // Rejected below, like any other text that is not a network.
    }
    throw new ConfigurationException(
        "INFERSPAN_TRUSTED_CALLERS is '"
            + setting
            + "', but must be 'all', 'none', or networks such as '10.0.0.0/8,fd00::/8'");
  }

  /** Returns whether all addresses are trusted. */
  public boolean all() {
    return networks == null;
  }

  /** Returns whether the caller at this address is trusted; null is trusted only if all are. */
  public boolean contains(@Nullable InetAddress peer) {
    if (networks == null) {
      return true;
    }
    if (peer == null) {
      return false;
    }
    byte[] address = peer.getAddress();
    return networks.stream().anyMatch(network -> contains(network, address));
  }

  private static boolean contains(byte[] network, byte[] address) {
    if (network.length != address.length + 1) {
      return false;
    }
    int bits = network[address.length] & 0xff;
    int at = 0;
    while (at < bits && ((network[at / 8] ^ address[at / 8]) & (0x80 >>> (at % 8))) == 0) {
      at++;
    }
    return at == bits;
  }
}
