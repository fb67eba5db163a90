package io.inferspan.pd.net;

import java.util.Map;
import java.util.Properties;

/**
 * Properties of Netty whose defaults are not right here; what the command line says comes first.
 */
final class NettyDefaults {
  private static final Map<String, String> OURS =
      Map.of(
          // A poll that stays armed tells of an edge once. Netty drops it while a read is under
          // way,
          // so that a client who resets in that moment would never be heard of again.
          "io.netty.iouring.pollAddMultishotEnabled", "false",
          // Events for the flight recorder about every buffer cost 20 proxies at the start.
          "io.netty.jfr.enabled", "false",
          // Vert.x asks for the default allocator, which else is a second one beside ours.
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
