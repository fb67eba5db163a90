package io.inferspan.epp.tracing;

import io.inferspan.epp.Plugin;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Logs failures of plugins without a span, at a low level since they occur per request. */
final class QuietLog {

  private static final Logger LOGGER = System.getLogger("io.inferspan.epp");

  private QuietLog() {}

  /** Names the plugin and the exception's class; the message may contain content and is omitted. */
  static void failed(Plugin plugin, Throwable cause) {
    LOGGER.log(Level.DEBUG, "Plugin {0} threw {1}", plugin.name(), cause.getClass().getName());
  }
}
