package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.KvBatchObserver;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The task of a thread that applies batches to the index. All batches of a pod are applied by the
 * same worker, in order.
 *
 * <p>It may block on the index. If its queue is full, a new batch from a bound socket is dropped,
 * and then handled like a batch lost on the network. Connected sockets are not read while it is
 * full.
 */
final class Worker implements Runnable, Stream.Actions {

  private static final Logger LOG = System.getLogger(Worker.class.getName());
  private static final int AT_ONCE = 256;
  private static final long IDLE_MILLIS = 100;

  private final WorkQueue queue;
  private final KvEventCounts counts;
  private final KvEventOptions options;
  private final ReplayPool replays;
  private final IndexWriter writer;
  private final KvEventIndexer indexer;
  private final KvEventDecoder decoder = new KvEventDecoder();
  private final Set<Stream> watched = ConcurrentHashMap.newKeySet();
  private boolean faulted;
  private volatile boolean closing;

  Worker(
      KvEventOptions options,
      KvEventCounts counts,
      ReplayPool replays,
      IndexWriter writer,
      KvEventIndexer indexer) {
    this.queue = new WorkQueue(options.queueBatches, options.queueBytes);
    this.counts = counts;
    this.options = options;
    this.replays = replays;
    this.writer = writer;
    this.indexer = indexer;
  }

  WorkQueue queue() {
    return queue;
  }

  /** Adds a batch; if the queue is full, counts it as dropped. Called on the receiver's thread. */
  void offer(Message message) {
    message.stream().arrived(message.sequence());
    if (!queue.offer(message, 1)) {
      counts.increment(KvEventCount.DROPPED_BATCHES);
      message.stream().dropped(message.sequence());
      watched.add(message.stream());
    }
  }

  void close() {
    closing = true;
  }

  @Override
  public void run() {
    List<Message> messages = new ArrayList<>(AT_ONCE);
    try {
      while (!closing) {
        queue.take(messages, AT_ONCE, IDLE_MILLIS);
        for (Message message : messages) {
          handle(message);
          queue.done(message);
        }
        messages.clear();
        succeeded(this::maintain, "A repair of the index failed and will be retried");
      }
    } catch (InterruptedException e) {
      // KvEventSubscriber.close() interrupts the thread.
      Thread.currentThread().interrupt();
    }
  }

  private void handle(Message message) {
    if (!closing
        && !succeeded(
            () -> dispatch(message), "A batch of KV events was not applied; its pod is cleared")) {
      succeeded(
          () -> invalidate(message.stream()),
          "A pod was not cleared after a fault; this will be retried");
    }
  }

  /** Runs a step. An Error, such as a missing class of an observer, must not end the thread. */
  private boolean succeeded(Runnable step, String otherwise) {
    try {
      step.run();
      return true;
    } catch (Throwable e) {
      counts.increment(KvEventCount.FAULTS);
      if (!faulted) {
        faulted = true;
        LOG.log(Level.WARNING, otherwise + "; later faults are only counted", e);
      }
      return false;
    }
  }

  private void dispatch(Message message) {
    Stream stream = message.stream();
    switch (message.kind()) {
      case LIVE -> {
        KvEventBatch batch = decoder.decode(message.payload());
        if (batch == null) {
          // If this was a batch, its missing sequence number shows as a gap before the next one.
          counts.increment(KvEventCount.BAD_FRAMES);
        } else {
          stream.live(message, batch);
        }
      }
      case REPLAYED -> stream.replayed(message, decoder.decode(message.payload()));
      case POD_REMOVED -> {
        stream.removed();
        watched.remove(stream);
        writer.forget(stream.pod);
      }
      default -> stream.ended(message);
    }
  }

  private void maintain() {
    writer.maintain();
    if (!watched.isEmpty() && queue.isEmpty()) {
      List<Stream> idle = List.copyOf(watched);
      watched.removeAll(idle);
      idle.forEach(Stream::idle);
    }
  }

  @Override
  public KvEventCounts counts() {
    return counts;
  }

  @Override
  public Replay.Limits limits() {
    return options.replayLimits;
  }

  @Override
  public void apply(Stream stream, Message message, KvEventBatch batch) {
    KvBatchObserver.Batch received =
        new KvBatchObserver.Batch(
            stream.pod,
            stream.endpoint,
            message.topic().text(),
            message.sequence(),
            message.payload().length,
            batch.events().size());
    try (KvBatchObserver.Observation entering = options.observer.begin(received)) {
      indexer.apply(stream.pod, message.topic().model(), batch, entering.context());
    }
  }

  @Override
  public void invalidate(Stream stream) {
    counts.increment(KvEventCount.INVALIDATIONS);
    writer.clear(writer.pod(stream.pod));
  }

  @Override
  public void replay(Replay replay) {
    replays.start(replay, queue);
  }

  @Override
  public void watch(Stream stream) {
    watched.add(stream);
  }
}
