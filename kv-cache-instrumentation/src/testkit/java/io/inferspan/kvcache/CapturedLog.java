package io.inferspan.kvcache;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/** Collects what is logged while this is open, from a level on. */
public final class CapturedLog extends Handler implements AutoCloseable {

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Logger logger;
  private final @Nullable Level levelBefore;

  private CapturedLog(String name, Level level) {
    logger = Logger.getLogger(name);
    levelBefore = logger.getLevel();
    logger.setLevel(level);
    logger.addHandler(this);
  }

  /** Collects all that anything in the process logs, however fine. */
  public static CapturedLog ofEverything() {
    return new CapturedLog("", Level.ALL);
  }

  /** Collects the warnings of a class. */
  public static CapturedLog warningsOf(Class<?> type) {
    return new CapturedLog(type.getName(), Level.WARNING);
  }

  /** Returns the number of messages. */
  public int count() {
    return messages.size();
  }

  /** Returns the messages, with their loggers, parameters and exceptions. */
  public List<String> messages() {
    return messages;
  }

  @Override
  public void publish(LogRecord entry) {
    String message = new SimpleFormatter().formatMessage(entry);
    String parameters = Arrays.toString(entry.getParameters());
    messages.add(entry.getLoggerName() + ' ' + message + parameters + entry.getThrown());
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setLevel(levelBefore);
  }
}
