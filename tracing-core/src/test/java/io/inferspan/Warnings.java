package io.inferspan;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects log records of level WARNING and above while it is open. */
public final class Warnings extends Handler implements AutoCloseable {

  private final Logger logger;
  private final List<String> sentences = new CopyOnWriteArrayList<>();

  private Warnings(Logger logger) {
    this.logger = logger;
  }

  /** Collects the records of Inferspan's loggers. */
  public static Warnings collect() {
    return collectFrom("io.inferspan");
  }

  /** Collects the records of a logger and its children; the empty name collects all. */
  public static Warnings collectFrom(String loggerName) {
    Warnings warnings = new Warnings(Logger.getLogger(loggerName));
    warnings.setLevel(Level.WARNING);
    warnings.logger.addHandler(warnings);
    return warnings;
  }

  /** Returns the messages so far. */
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
