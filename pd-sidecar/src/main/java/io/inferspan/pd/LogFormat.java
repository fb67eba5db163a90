package io.inferspan.pd;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.System.Logger.Level;
import java.time.temporal.ChronoUnit;
import java.util.logging.Formatter;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Formats each log record as one line, with the time in UTC.
 *
 * <p>The JDK's own formatter loads locales and time zones, which takes time at every start.
 */
final class LogFormat extends Formatter {
  private static final String CONFIGURED = "java.util.logging.config.file";

  // A strong reference, because the log manager itself refers to loggers only weakly.
  private static final Logger ROOT = LogManager.getLogManager().getLogger("");

  private LogFormat() {}

  /** Installs the format, unless the operator supplied a logging configuration. */
  static void install(Level level) {
    if (System.getProperty(CONFIGURED) != null) {
      return;
    }
    // Severities of System.Logger are the values of java.util.logging's levels.
    var translated = java.util.logging.Level.parse(Integer.toString(level.getSeverity()));
    ROOT.setLevel(translated);
    for (var handler : ROOT.getHandlers()) {
      handler.setLevel(translated);
      handler.setFormatter(new LogFormat());
    }
  }

  @Override
  public String format(LogRecord log) {
    String line =
        log.getInstant().truncatedTo(ChronoUnit.MILLIS)
            + " "
            + log.getLevel().getName()
            + " "
            + log.getLoggerName()
            + ": "
            + formatMessage(log)
            + System.lineSeparator();
    return log.getThrown() == null ? line : line + trace(log.getThrown());
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
