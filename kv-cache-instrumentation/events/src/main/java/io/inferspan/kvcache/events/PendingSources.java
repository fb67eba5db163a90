package io.inferspan.kvcache.events;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * Publishers that are not subscribed yet because their host has no address or no socket is
 * available.
 *
 * <p>They are retried at the interval of lost connections, with one warning each. Names are
 * resolved on separate threads, since a slow name server must not delay the events of others. All
 * methods but {@link #size} are for the receiver's thread.
 */
final class PendingSources {

  private static final class Pending {
    private final EventSource source;
    private boolean lookedUp;
    private boolean warned;
    private boolean done;

    private Pending(EventSource source) {
      this.source = source;
    }
  }

  private static final Logger LOG = System.getLogger(PendingSources.class.getName());
  private static final int LOOKUPS_AT_ONCE = 4;
  private static final long KEEP_SECONDS = 5;

  private final Receiver receiver;
  private final long pauseNanos;
  private final ThreadPoolExecutor lookups;
  private List<Pending> all = new ArrayList<>();
  private long nextRound;
  private boolean socketsSpent;
  private volatile int size;

  /**
   * Creates an empty set of publishers.
   *
   * @param pauseNanos the time between two rounds
   */
  PendingSources(Receiver receiver, long pauseNanos) {
    this.receiver = receiver;
    this.pauseNanos = pauseNanos;
    // A name is resolved only once at a time, so the queue is at most the number of publishers.
    this.lookups =
        new ThreadPoolExecutor(
            LOOKUPS_AT_ONCE,
            LOOKUPS_AT_ONCE,
            KEEP_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Threads.named("inferspan-kv-names-"));
    lookups.allowCoreThreadTimeOut(true);
  }

  /** Returns the number of pending publishers. Callable from any thread. */
  int size() {
    return size;
  }

  void add(EventSource source) {
    if (all.isEmpty()) {
      nextRound = System.nanoTime() + pauseNanos;
      socketsSpent = false;
    }
    Pending pending = new Pending(source);
    attempt(pending);
    if (!pending.done) {
      all.add(pending);
      size = all.size();
    }
  }

  void remove(String pod) {
    for (Pending pending : all) {
      pending.done |= pending.source.pod().equals(pod);
    }
    forgetDone();
  }

  /** Retries all publishers when the interval has passed. */
  void retry() {
    if (all.isEmpty() || System.nanoTime() - nextRound < 0) {
      return;
    }
    nextRound = System.nanoTime() + pauseNanos;
    socketsSpent = false;
    for (Pending pending : all) {
      if (!pending.lookedUp) {
        attempt(pending);
      }
    }
    forgetDone();
  }

  void close() {
    lookups.shutdownNow();
  }

  private void forgetDone() {
    List<Pending> left = new ArrayList<>(all);
    left.removeIf(pending -> pending.done);
    all = left;
    size = left.size();
  }

  private void attempt(Pending pending) {
    if (pending.source.isNamed()) {
      lookUp(pending);
    } else {
      connect(pending);
    }
  }

  private void lookUp(Pending pending) {
    pending.lookedUp = true;
    lookups.execute(
        () -> {
          String obstacle = obstacle(pending.source.host());
          receiver.execute(() -> answered(pending, obstacle));
        });
  }

  /** Returns why a host cannot be connected, or null if it can; the JDK then caches its address. */
  private static @Nullable String obstacle(String host) {
    try {
      InetAddress.getAllByName(host);
      return null;
    } catch (UnknownHostException | RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void answered(Pending pending, @Nullable String obstacle) {
    pending.lookedUp = false;
    if (pending.done) {
      return;
    }
    if (obstacle == null) {
      connect(pending);
      forgetDone();
    } else {
      warn(pending, obstacle);
    }
  }

  private void connect(Pending pending) {
    if (socketsSpent) {
      // One attempt per round is enough: JeroMQ can lose a slot with each socket that it fails to
      // create.
      return;
    }
    ZMQ.Socket socket;
    try {
      socket = receiver.socket(pending.source.endpoint());
    } catch (RuntimeException e) {
      socketsSpent = true;
      warn(pending, "no socket: " + e.getMessage());
      return;
    }
    try {
      receiver.subscribe(pending.source, socket);
      pending.done = true;
      reportRecovery(pending);
    } catch (RuntimeException e) {
      socket.close();
      warn(pending, String.valueOf(e.getMessage()));
    }
  }

  private static void warn(Pending pending, String obstacle) {
    if (!pending.warned) {
      pending.warned = true;
      EventSource source = pending.source;
      LOG.log(
          Level.WARNING,
          "KV events of {0} at {1} cannot be followed ({2}); trying again",
          source.pod(),
          source.endpoint(),
          obstacle);
    }
  }

  private static void reportRecovery(Pending pending) {
    if (pending.warned) {
      EventSource source = pending.source;
      LOG.log(Level.INFO, "KV events of {0} at {1} are followed", source.pod(), source.endpoint());
    }
  }
}
