package io.inferspan.gateway;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Everything that is logged of ours while it is open, down to the finest. */
final class CapturedLog extends Handler implements AutoCloseable {

  private final Logger logger = Logger.getLogger("io.inferspan");
  private final List<String> lines = new CopyOnWriteArrayList<>();

  CapturedLog() {
    logger.setLevel(Level.ALL);
    logger.addHandler(this);
  }

  String text() {
    return lines.toString();
  }

  @Override
  public void publish(LogRecord message) {
    lines.add(
        message.getMessage() + Arrays.toString(message.getParameters()) + message.getThrown());
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setLevel(null);
  }
}
