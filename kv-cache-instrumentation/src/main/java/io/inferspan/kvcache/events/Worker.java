package io.inferspan.kvcache.events;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A thread that lets batches change the index, those of a pod in order.
 *
 * <p>It may wait for the index. Batches that come meanwhile wait in its queue, and those that find
 * no room there are missing like those that were lost on the way.
 */
final class Worker implements Runnable, StreamActions {

  private static final int AT_ONCE = 256;
  private static final long IDLE_MILLIS = 100;

  private final WorkQueue queue;
  private final KvEventCounts counts;
  private final KvEventOptions options;
  private final ReplayCalls replays;
  private final IndexKeeper keeper;
  private final KvEventIndexer indexer;
  private final KvEventDecoder decoder = new KvEventDecoder();
  private final Set<Stream> watched = ConcurrentHashMap.newKeySet();
  private volatile boolean closing;

  Worker(
      KvEventOptions options,
      KvEventCounts counts,
      ReplayCalls replays,
      IndexKeeper keeper,
      KvEventIndexer indexer) {
    this.queue = new WorkQueue(options.queueBatches(), options.queueBytes());
    this.counts = counts;
    this.options = options;
    this.replays = replays;
    this.keeper = keeper;
    this.indexer = indexer;
  }

  boolean hasRoom() {
    return queue.hasRoom();
  }

  /** Takes a batch that there was room for; from the receiver's thread. */
  void push(Message message) {
    queue.push(message);
  }

  /** Takes a batch if there is room, and counts it as lost if not; from the receiver's thread. */
  void offer(Message message) {
    message.stream().arrived(message.sequence());
    if (!queue.offerLive(message)) {
      counts.droppedBatches.increment();
      message.stream().dropped(message.sequence());
      watched.add(message.stream());
    }
  }

  void tell(Message message) {
    queue.tell(message);
  }

  int queued() {
    return queue.batches();
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
        tend();
      }
    } catch (InterruptedException e) {
      // Only closing interrupts.
      Thread.currentThread().interrupt();
    }
  }

  private void handle(Message message) {
    if (closing) {
      return;
    }
    try {
      dispatch(message);
    } catch (RuntimeException e) {
      // A fault of ours or of an observer: what became of the batch is not known.
      counts.faults.increment();
      invalidate(message.stream());
    }
  }

  private void dispatch(Message message) {
    Stream stream = message.stream();
    switch (message.kind()) {
      case LIVE -> {
        KvEventBatch batch = decoder.decode(message.payload());
        if (batch == null) {
          // Its number is not looked at: where it was a batch, the next one shows a gap.
          counts.badFrames.increment();
        } else {
          stream.live(message, batch, this);
        }
      }
      case REPLAYED -> stream.replayed(message, decoder.decode(message.payload()), this);
      case GONE -> {
        stream.gone();
        watched.remove(stream);
        keeper.forget(stream.pod());
      }
      default -> stream.ended(message, this);
    }
  }

  private void tend() {
    try {
      keeper.tend();
      if (!watched.isEmpty() && queue.isEmpty()) {
        List<Stream> quiet = List.copyOf(watched);
        watched.removeAll(quiet);
        quiet.forEach(stream -> stream.quiet(this));
      }
    } catch (RuntimeException e) {
      counts.faults.increment();
    }
  }

  @Override
  public KvEventCounts counts() {
    return counts;
  }

  @Override
  public ReplayLimits limits() {
    return options.replayLimits();
  }

  @Override
  public void apply(Stream stream, Message message, KvEventBatch batch) {
    KvBatchObserver.Batch told =
        new KvBatchObserver.Batch(
            stream.pod(),
            stream.endpoint(),
            message.topic().text(),
            message.sequence(),
            message.payload().length,
            batch.events().size());
    try (KvBatchObserver.Observation entering = options.observer().begin(told)) {
      indexer.apply(stream.pod(), message.topic().model(), batch, entering.context());
    }
  }

  @Override
  public void invalidate(Stream stream) {
    counts.invalidations.increment();
    keeper.clear(keeper.pod(stream.pod()));
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
