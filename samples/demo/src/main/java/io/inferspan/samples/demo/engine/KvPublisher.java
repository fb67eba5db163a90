package io.inferspan.samples.demo.engine;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes batches of KV events over ZMQ as vLLM does: topic, sequence number, batch.
 *
 * <p>One thread owns the socket, because ZMQ sockets are not thread-safe.
 */
final class KvPublisher implements AutoCloseable {

  private static final int QUEUE_CAPACITY = 10_000;
  private static final long POLL_MILLIS = 20;
  private static final long CLOSE_MILLIS = 1_000;

  private final BlockingQueue<byte[]> waiting = new ArrayBlockingQueue<>(QUEUE_CAPACITY);
  private final String endpoint;
  private final byte[] topic;
  private final Runnable onSubscribed;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Starts to publish on a loopback port.
   *
   * @param topic such as {@code kv@pod@model}
   * @param onSubscribed called once, when the first subscriber has connected
   * @throws org.zeromq.ZMQException if the port is taken
   */
  KvPublisher(int port, String topic, Runnable onSubscribed) {
    this.endpoint = "tcp://127.0.0.1:" + port;
    this.topic = topic.getBytes(StandardCharsets.UTF_8);
    this.onSubscribed = onSubscribed;
    ZContext context = new ZContext();
    context.setLinger(0);
    ZMQ.Socket socket = context.createSocket(SocketType.XPUB);
    socket.bind(endpoint);
    thread = new Thread(() -> run(context, socket), "kv-events");
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns the ZMQ address. */
  String endpoint() {
    return endpoint;
  }

  /** Publishes a batch. If the queue is full, the batch is lost, as with a full ZMQ socket. */
  void publish(byte[] batch) {
    boolean _ = waiting.offer(batch);
  }

  private void run(ZContext context, ZMQ.Socket socket) {
    long sequence = 0;
    boolean subscribed = false;
    try (context) {
      while (!closed) {
        byte[] subscription = socket.recv(ZMQ.DONTWAIT);
        if (subscription != null && subscription[0] == 1 && !subscribed) {
          subscribed = true;
          onSubscribed.run();
        }
        byte[] batch = next();
        if (batch != null) {
          socket.sendMore(topic);
          socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array());
          socket.send(batch);
          sequence++;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private byte @Nullable [] next() throws InterruptedException {
    return waiting.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    thread.join(CLOSE_MILLIS);
  }
}
