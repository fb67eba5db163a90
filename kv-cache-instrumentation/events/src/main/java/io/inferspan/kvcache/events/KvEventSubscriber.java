package io.inferspan.kvcache.events;

import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.BlockIndex;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.zeromq.ZMQ;

/**
 * Subscribes to engines' cache events and keeps an index up to date.
 *
 * <p>Announce pods with {@link #podAdded}, or let engines connect to {@link
 * KvEventOptions.Builder#zmqEndpoint}. The subscriber starts daemon threads: a receiver, the
 * workers that update the index, ZeroMQ's own threads, and temporary ones for replays and name
 * resolution. Data from engines never makes it throw; {@link #counts} reports the outcome.
 */
public final class KvEventSubscriber implements AutoCloseable {

  private static final Logger LOG = System.getLogger(KvEventSubscriber.class.getName());
  private static final long CLOSE_MILLIS = TimeUnit.SECONDS.toMillis(5);

  private final KvEventOptions options;
  private final KvEventCounts counts = new KvEventCounts();
  private final ZMQ.Context context;
  private final ReplayPool replays;
  private final List<Worker> workers = new ArrayList<>();
  private final Receiver receiver;
  private final Thread receiving;
  private final List<Thread> working = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  private KvEventSubscriber(BlockIndex index, BlockKeys keys, KvEventOptions options) {
    this.options = options;
    context = ZMQ.context(1);
    context.setMaxSockets(Receiver.MOST_SOCKETS);
    context.setThreadFactor((task, name) -> Threads.daemon(task, "inferspan-kv-zmq-" + name));
    context.setUncaughtExceptionHandler((thread, fault) -> counts.increment(KvEventCount.FAULTS));
    // JeroMQ's thread continues. Such an exception occurs, for example, while a socket is closed.
    context.setNotificationExceptionHandler(
        (thread, fault) ->
            LOG.log(Level.DEBUG, "JeroMQ's I/O thread continues after an exception", fault));
    replays = new ReplayPool(context, options, counts);
    AtomicLong outages = new AtomicLong();
    for (int i = 0; i < options.workers; i++) {
      IndexWriter writer = new IndexWriter(index, options, counts, outages);
      KvEventIndexer indexer = new KvEventIndexer(keys, writer, counts);
      workers.add(new Worker(options, counts, replays, writer, indexer));
    }
    receiver = new Receiver(context, options, counts, this::worker);
    receiving = Threads.daemon(receiver, "inferspan-kv-receive");
  }

  /**
   * Starts a subscriber.
   *
   * @param index the index to update; the caller closes it
   * @param keys the block keys that lookups use
   * @throws IllegalArgumentException if the endpoint to bind cannot be bound
   */
  public static KvEventSubscriber start(BlockIndex index, BlockKeys keys, KvEventOptions options) {
    KvEventSubscriber subscriber = new KvEventSubscriber(index, keys, options);
    subscriber.start();
    return subscriber;
  }

  private void start() {
    String endpoint = options.zmqEndpoint;
    try {
      if (endpoint != null) {
        receiver.bind(endpoint);
      }
    } catch (IllegalArgumentException e) {
      receiver.closeBell();
      context.close();
      throw e;
    }
    for (int i = 0; i < workers.size(); i++) {
      Thread thread = Threads.daemon(workers.get(i), "inferspan-kv-events-" + (i + 1));
      working.add(thread);
      thread.start();
    }
    receiving.start();
  }

  /** Chooses a worker by pod, so that a pod's events stay in order across its ranks. */
  private Worker worker(String pod) {
    return workers.get(Math.floorMod(pod.hashCode(), workers.size()));
  }

  /**
   * Subscribes to a pod on the ports in the options, one for each rank.
   *
   * <p>A name that cannot be resolved yet is retried after {@link
   * KvEventOptions.Builder#reconnect}.
   *
   * @param pod its identity, {@code host:port} or {@code host}; the host is the one to connect to
   * @throws IllegalArgumentException if the host is invalid
   */
  public void podAdded(String pod) {
    for (int rank = 0; rank < options.ranks; rank++) {
      sourceAdded(EventSource.of(pod, rank, options));
    }
  }

  /** Subscribes to a publisher whose endpoints differ from the options. */
  public void sourceAdded(EventSource source) {
    receiver.add(source);
  }

  /** Unsubscribes from a pod and removes it from the index. */
  public void podRemoved(String pod) {
    receiver.remove(pod);
  }

  /** Returns the counts of processed events. */
  public KvEventCounts counts() {
    return counts;
  }

  /** Returns how many batches wait for a worker. */
  public int queued() {
    return workers.stream().mapToInt(worker -> worker.queue().batches()).sum();
  }

  /**
   * Returns how many publishers are not subscribed yet because an address or a socket is missing.
   */
  public int waiting() {
    return receiver.waiting();
  }

  /**
   * Stops all threads and closes all sockets within a few seconds; pending batches are not applied.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    receiver.close();
    workers.forEach(Worker::close);
    working.forEach(Thread::interrupt);
    try {
      receiving.join(CLOSE_MILLIS);
      if (replays.close(CLOSE_MILLIS) && !receiving.isAlive()) {
        context.close();
      }
      for (Thread thread : working) {
        thread.join(CLOSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
