package io.inferspan.kvcache.events;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Collects the warnings that one of our classes logs while this is open. */
final class LoggedWarnings extends Handler implements AutoCloseable {

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Logger logger;

  LoggedWarnings(Class<?> whose) {
    logger = Logger.getLogger(whose.getName());
    logger.addHandler(this);
  }

  int count() {
    return messages.size();
  }

  List<String> messages() {
    return messages;
  }

  @Override
  public void publish(LogRecord entry) {
    if (entry.getLevel().equals(Level.WARNING)) {
      messages.add(new SimpleFormatter().formatMessage(entry));
    }
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
