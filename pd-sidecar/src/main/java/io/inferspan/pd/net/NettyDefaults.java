package io.inferspan.pd.net;

import java.util.Map;
import java.util.Properties;

/** Netty properties whose defaults do not fit; the command line takes precedence. */
final class NettyDefaults {
  private static final Map<String, String> OURS =
      Map.of(
          // A poll that stays armed reports an edge once. Netty drops it while a read is under
          // way,
          // so that a client who resets in that moment would never be heard of again.
          "io.netty.iouring.pollAddMultishotEnabled", "false",
          // Events for the flight recorder about every buffer cost 20 proxies at the start.
          "io.netty.jfr.enabled", "false",
          // Vert.x asks for the default allocator, which else is a second one next to ours.
          "io.netty.allocator.type", "pooled",
          // A part of channel ids, for which else all network devices are looked through.
          "io.netty.machineId", "00:00:00:00:00:00:00:01");

  private NettyDefaults() {}

  /** To be called before Netty is loaded, which reads them once. */
  static void set() {
    Properties properties = System.getProperties();
    OURS.forEach(properties::putIfAbsent);
  }
}
