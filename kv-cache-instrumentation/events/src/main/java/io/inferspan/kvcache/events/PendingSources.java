package io.inferspan.kvcache.events;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * Publishers that are not subscribed yet because their host has no address or no socket is
 * available.
 *
 * <p>They are retried at the interval {@link KvEventOptions.Builder#reconnect}, with one warning
 * each. Names are resolved on separate threads, since a slow name server must not delay the events
 * of others. Four lookups run at once; while all four wait, other new publishers wait, too. All
 * methods but {@link #size} are for the receiver's thread.
 */
final class PendingSources {

  private static final class Pending {
    private final EventSource source;
    private boolean warned;

    private Pending(EventSource source) {
      this.source = source;
    }
  }

  private static final Logger LOG = System.getLogger(PendingSources.class.getName());
  private static final int LOOKUPS_AT_ONCE = 4;
  private static final long KEEP_SECONDS = 5;

  private final Receiver receiver;
  private final long pauseNanos;
  private final ScheduledThreadPoolExecutor threads;
  private final Set<Pending> all = new LinkedHashSet<>();
  private long noSocketBefore = System.nanoTime();
  private volatile int size;

  /**
   * Creates an empty set of publishers.
   *
   * @param pauseNanos the time between two attempts
   */
  PendingSources(Receiver receiver, long pauseNanos) {
    this.receiver = receiver;
    this.pauseNanos = pauseNanos;
    // A publisher has one task at a time, so the queue is at most the number of publishers.
    this.threads =
        new ScheduledThreadPoolExecutor(LOOKUPS_AT_ONCE, Threads.named("inferspan-kv-names-"));
    threads.setKeepAliveTime(KEEP_SECONDS, TimeUnit.SECONDS);
    threads.allowCoreThreadTimeOut(true);
  }

  /** Returns the number of pending publishers. Callable from any thread. */
  int size() {
    return size;
  }

  void add(EventSource source) {
    Pending pending = new Pending(source);
    all.add(pending);
    size = all.size();
    attempt(pending, 0);
  }

  void remove(String pod) {
    all.removeIf(pending -> pending.source.pod().equals(pod));
    size = all.size();
  }

  void close() {
    threads.shutdownNow();
  }

  private void attempt(Pending pending, long delayNanos) {
    Runnable resolving =
        () -> {
          String obstacle = obstacle(pending.source.host());
          receiver.execute(() -> resolved(pending, obstacle));
        };
    ScheduledFuture<?> unused = threads.schedule(resolving, delayNanos, TimeUnit.NANOSECONDS);
  }

  /** Returns why a host has no address, or null if it has one; the JDK then caches the address. */
  private static @Nullable String obstacle(String host) {
    try {
      InetAddress.getAllByName(host);
      return null;
    } catch (UnknownHostException | RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void resolved(Pending pending, @Nullable String unresolved) {
    if (!all.contains(pending)) {
      return;
    }
    String obstacle = unresolved == null ? subscribed(pending.source) : unresolved;
    if (obstacle != null) {
      if (!pending.warned) {
        pending.warned = true;
        String sentence = "Cannot subscribe to KV events of {0} at {1} ({2}); retrying";
        log(Level.WARNING, sentence, pending, obstacle);
      }
      attempt(pending, pauseNanos);
      return;
    }
    all.remove(pending);
    size = all.size();
    if (pending.warned) {
      log(Level.INFO, "Subscribed to KV events of {0} at {1}", pending, "");
    }
  }

  /** Subscribes to a publisher; returns why that is not possible, or null if it is done. */
  private @Nullable String subscribed(EventSource source) {
    // One attempt at a time is enough: JeroMQ can lose a slot with each socket that it fails to
    // create.
    if (System.nanoTime() - noSocketBefore < 0) {
      return "no socket";
    }
    ZMQ.Socket socket;
    try {
      socket = receiver.socket(source.endpoint());
    } catch (RuntimeException e) {
      noSocketBefore = System.nanoTime() + pauseNanos;
      return "no socket: " + e.getMessage();
    }
    try {
      receiver.subscribe(source, socket);
      return null;
    } catch (RuntimeException e) {
      socket.close();
      return String.valueOf(e.getMessage());
    }
  }

  private static void log(Level level, String sentence, Pending pending, String obstacle) {
    LOG.log(level, sentence, pending.source.pod(), pending.source.endpoint(), obstacle);
  }
}
