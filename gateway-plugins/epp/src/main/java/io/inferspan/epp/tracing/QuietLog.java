package io.inferspan.epp.tracing;

import io.inferspan.epp.Plugin;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Logs failures of plugins that have no span; at DEBUG, because they can occur in each request. */
final class QuietLog {

  private static final Logger LOGGER = System.getLogger("io.inferspan.epp");

  private QuietLog() {}

  /** Logs the plugin and the exception's class, but not its message, which may contain content. */
  static void failed(Plugin plugin, Throwable cause) {
    LOGGER.log(Level.DEBUG, "Plugin {0} threw {1}", plugin.name(), cause.getClass().getName());
  }
}
