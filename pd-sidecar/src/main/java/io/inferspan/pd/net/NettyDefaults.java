package io.inferspan.pd.net;

import java.util.Map;
import java.util.Properties;

/** Netty properties with other defaults; the command line takes precedence. */
final class NettyDefaults {
  private static final Map<String, String> OURS =
      Map.of(
          // A poll that stays armed reports an edge once. Netty drops it while a read is under
          // way,
          // so that a client who resets in that moment would never be heard of again.
          "io.netty.iouring.pollAddMultishotEnabled", "false",
          // Flight recorder events for every buffer are expensive at startup.
          "io.netty.jfr.enabled", "false",
          // Vert.x uses the default allocator, which would otherwise be a second one.
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
