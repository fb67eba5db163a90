package io.inferspan.kvcache.events;

import io.inferspan.kvcache.index.KvBatchObserver;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Endpoints, threads and limits for receiving events. */
public final class KvEventOptions {

  private static final int MOST_PORT = 65_535;
  private static final Duration LEAST_TIME = Duration.ofMillis(1);
  private static final Duration MOST_TIME = Duration.ofDays(1);

  final String topicFilter;
  final int port;
  final int replayPort;
  final int ranks;
  final @Nullable String zmqEndpoint;
  final int workers;
  final int queueBatches;
  final long queueBytes;
  final int maxBatchBytes;
  final int maxBlocksPerPod;
  final Duration reconnect;
  final Duration writeTimeout;
  final KvBatchObserver observer;
  final Replay.Limits replayLimits;

  private KvEventOptions(Builder builder) {
    topicFilter = builder.topicFilter;
    port = builder.port;
    replayPort = builder.replayPort;
    ranks = builder.ranks;
    zmqEndpoint = builder.zmqEndpoint;
    workers = builder.workers;
    queueBatches = builder.queueBatches;
    queueBytes = builder.queueBytes;
    maxBatchBytes = builder.maxBatchBytes;
    maxBlocksPerPod = builder.maxBlocksPerPod;
    reconnect = builder.reconnect;
    writeTimeout = builder.writeTimeout;
    observer = builder.observer;
    replayLimits = builder.replayLimits;
  }

  /** Returns llm-d's defaults. */
  public static KvEventOptions withDefaults() {
    return builder().build();
  }

  /** Returns a builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builder for {@link KvEventOptions}. */
  public static final class Builder {

    private String topicFilter = "kv@";
    private int port = 5557;
    private int replayPort;
    private int ranks = 1;
    private @Nullable String zmqEndpoint;
    private int workers = 4;
    private int queueBatches = 10_000;
    private long queueBytes = 64L << 20;
    private int maxBatchBytes = 16 << 20;
    private int maxBlocksPerPod = 1 << 22;
    private Duration reconnect = Duration.ofSeconds(5);
    private Duration writeTimeout = Duration.ofSeconds(10);
    private KvBatchObserver observer = KvBatchObserver.NONE;
    private Replay.Limits replayLimits = Replay.Limits.DEFAULT;

    private Builder() {}

    /** Sets the topic prefix to subscribe to; {@code kv@} by default, empty for all topics. */
    public Builder topicFilter(String prefix) {
      topicFilter = prefix;
      return this;
    }

    /** Sets the port on which rank 0 of a pod publishes; 5557 by default. */
    public Builder port(int port) {
      this.port = within("port", port, 1, MOST_PORT);
      return this;
    }

    /** Sets the port on which rank 0 of a pod serves replays; 0, the default, disables replay. */
    public Builder replayPort(int port) {
      replayPort = within("replayPort", port, 0, MOST_PORT);
      return this;
    }

    /** Sets the number of data-parallel ranks of a pod, each with its own port; 1 by default. */
    public Builder ranks(int ranks) {
      this.ranks = within("ranks", ranks, 1, 1024);
      return this;
    }

    /** Sets an endpoint to bind, such as {@code tcp://*:5557}, for engines that connect to it. */
    public Builder zmqEndpoint(String endpoint) {
      zmqEndpoint = EventSource.checked("zmqEndpoint", endpoint);
      return this;
    }

    /**
     * Sets the number of threads that write to the index; 4 by default. All events of a pod are
     * written by the same thread.
     */
    public Builder workers(int workers) {
      this.workers = within("workers", workers, 1, 64);
      return this;
    }

    /** Sets how many batches may wait for one worker; 10,000 by default. */
    public Builder queueBatches(int batches) {
      queueBatches = within("queueBatches", batches, 1, 10_000_000);
      return this;
    }

    /** Sets how many bytes of batches may wait for one worker; 64 MiB by default. */
    public Builder queueBytes(long bytes) {
      if (bytes < 1) {
        throw new IllegalArgumentException("queueBytes is " + bytes + "; it must be 1 or more");
      }
      queueBytes = bytes;
      return this;
    }

    /** Sets the largest accepted batch; 16 MiB by default. */
    public Builder maxBatchBytes(int bytes) {
      maxBatchBytes = within("maxBatchBytes", bytes, 1024, 1 << 30);
      return this;
    }

    /**
     * Sets how many blocks are kept per pod; 4,194,304 by default. A block takes 27 to 53 bytes of
     * heap.
     */
    public Builder maxBlocksPerPod(int blocks) {
      maxBlocksPerPod = within("maxBlocksPerPod", blocks, 1, 1 << 28);
      return this;
    }

    /** Sets the delay before a lost connection is retried; 5 s by default. */
    public Builder reconnect(Duration pause) {
      reconnect = positive("reconnect", pause);
      return this;
    }

    /**
     * Sets how long a worker waits for the index; 10 s by default. It must be longer than the
     * index's own timeout.
     */
    public Builder writeTimeout(Duration timeout) {
      writeTimeout = positive("writeTimeout", timeout);
      return this;
    }

    /**
     * Sets an observer of each batch, such as {@code KvCacheTracing.batches()}; none by default.
     */
    public Builder observer(KvBatchObserver observer) {
      this.observer = observer;
      return this;
    }

    Builder replayLimits(Replay.Limits limits) {
      replayLimits = limits;
      return this;
    }

    /** Returns the options. */
    public KvEventOptions build() {
      lastPort("port", port);
      lastPort("replayPort", replayPort);
      return new KvEventOptions(this);
    }

    private void lastPort(String name, int first) {
      if (first + ranks - 1 > MOST_PORT) {
        throw new IllegalArgumentException(
            name
                + " is "
                + first
                + " and ranks is "
                + ranks
                + "; the last rank would need a port above 65535");
      }
    }

    private static int within(String name, int value, int least, int most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            name + " is " + value + "; it must be from " + least + " to " + most);
      }
      return value;
    }

    private static Duration positive(String name, Duration value) {
      if (value.compareTo(LEAST_TIME) < 0 || value.compareTo(MOST_TIME) > 0) {
        throw new IllegalArgumentException(
            name + " is " + value + "; it must be from 1 ms to one day");
      }
      return value;
    }
  }
}
