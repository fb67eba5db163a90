package io.inferspan.pd.rig;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test class that leaves a buffer unreleased or a thread of a sidecar running. */
public final class Cleanliness implements BeforeAllCallback, AfterAllCallback {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Logger LEAKS = Logger.getLogger(ResourceLeakDetector.class.getName());
  private static final List<String> REPORTS = new CopyOnWriteArrayList<>();
  private static final Handler KEEPER =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          String text = String.valueOf(record.getMessage());
          if (text.contains("LEAK")) {
            REPORTS.add(text);
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private long heldBefore;
  private ResourceLeakDetector.Level levelBefore = ResourceLeakDetector.Level.DISABLED;

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    // Vert.x sets the level when it is loaded, so it must be loaded first.
    Class.forName("io.vertx.core.impl.VertxImpl");
    levelBefore = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    LEAKS.addHandler(KEEPER);
    REPORTS.clear();
    heldBefore = held();
  }

  /** Returns the bytes of direct memory in live buffers. */
  public static long held() {
    return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    try {
      Awaited.within(PATIENCE, "all buffers released", () -> held() <= heldBefore);
      Awaited.within(PATIENCE, "all event loops stopped", () -> loops() == 0);
      report();
      if (!REPORTS.isEmpty()) {
        throw new AssertionError("buffers leaked: " + REPORTS);
      }
    } finally {
      LEAKS.removeHandler(KEEPER);
      ResourceLeakDetector.setLevel(levelBefore);
    }
  }

  private static long loops() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains("vert.x-eventloop"))
        .count();
  }

  /**
   * Triggers the leak detector's report, which happens when buffers are allocated after a
   * collection.
   */
  private static void report() {
    for (int round = 0; round < 2; round++) {
      System.gc();
      for (int i = 0; i < 50; i++) {
        ByteBuf pooled = PooledByteBufAllocator.DEFAULT.directBuffer(1);
        ByteBuf standard = ByteBufAllocator.DEFAULT.directBuffer(1);
        pooled.release();
        standard.release();
      }
    }
  }
}
