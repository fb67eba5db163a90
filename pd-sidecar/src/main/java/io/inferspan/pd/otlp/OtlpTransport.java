package io.inferspan.pd.otlp;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Whose threads carry spans to the collector: the sidecar's where there is one, else one of their
 * own.
 *
 * <p>The exporters make their senders themselves, so there is nowhere to pass a Vert.x instance
 * through. A sender looks here when it sends for the first time, not when it is made: telemetry may
 * start before Vert.x does.
 */
public final class OtlpTransport {

  private static final AtomicReference<@Nullable Vertx> SHARED = new AtomicReference<>();

  private OtlpTransport() {}

  /**
   * Has senders that send for the first time from now on use {@code vertx}, which must outlive
   * them: close the telemetry before it.
   */
  public static void use(Vertx vertx) {
    SHARED.set(vertx);
  }

  /** Lends {@code vertx} to no further sender. */
  public static void stopUsing(Vertx vertx) {
    SHARED.compareAndSet(vertx, null);
  }

  static @Nullable Vertx shared() {
    return SHARED.get();
  }

  /** A small one for a sender alone: one event loop, daemons, no files. */
  static Vertx own() {
    return Vertx.vertx(
        new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true)
            .setFileSystemOptions(
                new FileSystemOptions()
                    .setFileCachingEnabled(false)
                    .setClassPathResolvingEnabled(false)));
  }
}
