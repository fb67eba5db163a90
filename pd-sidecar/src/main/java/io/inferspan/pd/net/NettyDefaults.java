package io.inferspan.pd.net;

import java.util.Map;
import java.util.Properties;

/** Changes defaults of Netty's system properties; the command line takes precedence. */
final class NettyDefaults {
  private static final Map<String, String> OURS =
      Map.of(
          // A multishot poll reports each edge once, and Netty drops an edge that arrives during a
          // read: a reset by the client at that moment would go unnoticed.
          "io.netty.iouring.pollAddMultishotEnabled", "false",
          // Flight recorder events for every buffer are expensive at startup.
          "io.netty.jfr.enabled", "false",
          // The sidecar's own allocator. Vert.x uses Netty's default, which is then the same.
          "io.netty.allocator.type", "pooled",
          // A part of channel ids; otherwise Netty examines all network devices to choose one.
          "io.netty.machineId", "00:00:00:00:00:00:00:01");

  private NettyDefaults() {}

  /** Sets the properties. Call it before Netty is loaded, which reads them once. */
  static void set() {
    Properties properties = System.getProperties();
    OURS.forEach(properties::putIfAbsent);
  }
}
