package io.inferspan.pd.rig;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Records the warnings of one class until it is closed. */
public final class Logged extends Handler implements AutoCloseable {
  private final Logger logger;
  private final List<String> warnings = new CopyOnWriteArrayList<>();

  public Logged(Class<?> source) {
    this(source.getName());
  }

  public Logged(String name) {
    logger = Logger.getLogger(name);
    logger.addHandler(this);
    logger.setUseParentHandlers(false);
  }

  public List<String> warnings() {
    return warnings;
  }

  @Override
  public void publish(LogRecord entry) {
    if (entry.getLevel().equals(java.util.logging.Level.WARNING)) {
      warnings.add(entry.getMessage());
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setUseParentHandlers(true);
  }
}
