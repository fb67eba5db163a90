package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Plugin;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Records failures of plugins on spans, or else in the log at DEBUG, because they can occur in each
 * request.
 */
final class PluginFailures {
  private static final Logger LOGGER = System.getLogger("io.inferspan.epp");

  private PluginFailures() {}

  /**
   * Fails the plugin's span. Without a span, logs the plugin and the exception's class, but not its
   * message, which may contain content.
   */
  static void record(Plugin plugin, @Nullable OperationSpan span, Throwable cause) {
    if (span != null) {
      span.fail(cause);
    } else {
      LOGGER.log(Level.DEBUG, "Plugin {0} threw {1}", plugin.name(), cause.getClass().getName());
    }
  }
}
