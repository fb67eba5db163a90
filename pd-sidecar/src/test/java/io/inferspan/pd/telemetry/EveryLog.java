package io.inferspan.pd.telemetry;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Everything that the process logs at any level while this is open. */
final class EveryLog extends Handler {
  private final Logger root = Logger.getLogger("");
  private final Level before = root.getLevel();
  private final StringWriter text = new StringWriter();
  private final SimpleFormatter formatter = new SimpleFormatter();

  private EveryLog() {}

  static EveryLog capture() {
    EveryLog log = new EveryLog();
    log.setLevel(Level.ALL);
    log.root.addHandler(log);
    log.root.setLevel(Level.ALL);
    return log;
  }

  String text() {
    return text.toString();
  }

  @Override
  public void publish(LogRecord entry) {
    PrintWriter out = new PrintWriter(text);
    out.println(entry.getLoggerName() + ' ' + formatter.formatMessage(entry));
    if (entry.getThrown() != null) {
      entry.getThrown().printStackTrace(out);
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    root.removeHandler(this);
    root.setLevel(before);
  }
}
