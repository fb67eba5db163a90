package io.inferspan.kvcache.events;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * A socket that receives events: connected to one publisher, or bound for many.
 *
 * <p>For the receiver's thread only, except {@link #connected}.
 */
final class Subscription {

  private static final int AT_ONCE = 256;

  /** Topic, sequence number and batch. */
  private static final int FRAMES = 3;

  private static final int MOST_TOPIC_BYTES = 1024;
  static final int MOST_KNOWN = 4096;

  private final ZMQ.Socket socket;
  private final @Nullable Stream only;
  private final Function<String, Worker> workers;
  private final KvEventCounts counts;
  private final AtomicInteger connections = new AtomicInteger();
  private final Map<ByteBuffer, Topic> topics = new HashMap<>();

  /** Streams by pod, the least recently active first. */
  private final Map<String, Stream> streams = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Creates a subscription.
   *
   * @param only the only publisher of a connected socket; null for a bound socket, on which topics
   *     identify publishers
   */
  Subscription(
      ZMQ.Socket socket,
      @Nullable Stream only,
      Function<String, Worker> workers,
      KvEventCounts counts) {
    this.socket = socket;
    this.only = only;
    this.workers = workers;
    this.counts = counts;
  }

  ZMQ.Socket socket() {
    return socket;
  }

  /** Counts a connection. Called on one of the socket's threads. */
  void connected() {
    connections.incrementAndGet();
  }

  boolean isOf(String pod) {
    return only != null && only.pod.equals(pod);
  }

  /** Notifies the worker that the publisher was removed. */
  void removed() {
    if (only != null) {
      workers.apply(only.pod).queue().signal(Message.podRemoved(only));
    }
  }

  /**
   * Receives a limited number of messages, so that other sockets are read as well.
   *
   * <p>A connected socket is not read while its worker's queue is full; the publisher then buffers
   * its messages up to its high-water mark. A bound socket is always read, because one publisher
   * must not block the others; if the queue is full, the batch is dropped and counted.
   *
   * @return the number of messages received
   */
  int receive() {
    int connection = only == null ? 0 : connections.get();
    int taken = 0;
    while (taken < AT_ONCE && (only == null || workers.apply(only.pod).queue().hasRoom())) {
      List<byte[]> frames = frames(socket, ZMQ.DONTWAIT, FRAMES);
      if (frames.isEmpty()) {
        break;
      }
      taken++;
      if (frames.size() != FRAMES
          || !accept(frames.get(0), frames.get(1), frames.get(2), connection)) {
        counts.increment(KvEventCount.BAD_FRAMES);
      }
    }
    return taken;
  }

  /**
   * Receives a message and returns at most {@code most + 1} of its frames; empty if there is no
   * message.
   */
  static List<byte[]> frames(ZMQ.Socket socket, int flags, int most) {
    List<byte[]> frames = new ArrayList<>(most);
    byte[] frame = socket.recv(flags);
    while (frame != null) {
      if (frames.size() <= most) {
        frames.add(frame);
      }
      frame = socket.hasReceiveMore() ? socket.recv(flags) : null;
    }
    return frames;
  }

  private boolean accept(byte[] topicFrame, byte[] sequence, byte[] payload, int connection) {
    if (sequence.length != Long.BYTES || topicFrame.length > MOST_TOPIC_BYTES) {
      return false;
    }
    long number = ByteBuffer.wrap(sequence).getLong();
    if (number < 0) {
      return false;
    }
    Topic topic = topic(topicFrame);
    Stream stream = only != null ? only : stream(topic);
    Message message = Message.live(stream, number, topic, payload, connection);
    if (only != null) {
      workers.apply(stream.pod).queue().push(message);
    } else {
      workers.apply(stream.pod).offer(message);
    }
    return true;
  }

  private Topic topic(byte[] frame) {
    ByteBuffer key = ByteBuffer.wrap(frame);
    Topic topic = topics.get(key);
    if (topic == null) {
      if (topics.size() >= MOST_KNOWN) {
        topics.clear();
      }
      topic = Topic.of(frame);
      topics.put(key, topic);
    }
    return topic;
  }

  /** Returns the stream that a topic belongs to. */
  private Stream stream(Topic topic) {
    Stream stream = streams.get(topic.pod());
    if (stream == null) {
      if (streams.size() >= MOST_KNOWN) {
        forgetLeastActive();
      }
      stream = new Stream(topic.pod(), "", null, workers.apply(topic.pod()));
      streams.put(topic.pod(), stream);
    }
    return stream;
  }

  /**
   * Makes room for a new pod by dropping the least recently active one, most likely a removed pod.
   *
   * <p>If that pod still exists, its blocks are unknown until it reports more.
   */
  private void forgetLeastActive() {
    forget(streams.keySet().iterator().next());
    counts.increment(KvEventCount.INVALIDATIONS);
  }

  /** Unsubscribes from a pod whose events arrive on a bound socket. */
  void forget(String pod) {
    Stream stream = streams.remove(pod);
    if (stream != null) {
      workers.apply(stream.pod).queue().signal(Message.podRemoved(stream));
    }
  }
}
