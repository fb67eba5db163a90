package io.inferspan;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects what is logged as a warning or worse while it is open. */
public final class Warnings extends Handler implements AutoCloseable {

  private final Logger logger;
  private final List<String> sentences = new CopyOnWriteArrayList<>();

  private Warnings(Logger logger) {
    this.logger = logger;
  }

  /** Collects our own. */
  public static Warnings collect() {
    return collectFrom("io.inferspan");
  }

  /** Collects those of a logger and what is below it; the empty name takes all. */
  public static Warnings collectFrom(String loggerName) {
    Warnings warnings = new Warnings(Logger.getLogger(loggerName));
    warnings.setLevel(Level.WARNING);
    warnings.logger.addHandler(warnings);
    return warnings;
  }

  /** What was logged so far. */
  public List<String> sentences() {
    return List.copyOf(sentences);
  }

  @Override
  public void publish(LogRecord record) {
    if (isLoggable(record)) {
      sentences.add(record.getMessage() + (record.getThrown() == null ? "" : record.getThrown()));
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
