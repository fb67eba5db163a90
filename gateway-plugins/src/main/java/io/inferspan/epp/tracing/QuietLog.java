package io.inferspan.epp.tracing;

import io.inferspan.epp.Plugin;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Where failures go that happen under no span of their own; quiet, since it is per request. */
final class QuietLog {

  private static final Logger LOGGER = System.getLogger("io.inferspan.epp");

  private QuietLog() {}

  /** Names the plugin and what it threw, whose message may hold content and is left out. */
  static void failed(Plugin plugin, Throwable cause) {
    LOGGER.log(Level.DEBUG, "Plugin {0} threw {1}", plugin.name(), cause.getClass().getName());
  }
}
