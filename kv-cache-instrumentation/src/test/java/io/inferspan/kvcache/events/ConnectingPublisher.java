package io.inferspan.kvcache.events;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/** A publisher over JeroMQ that connects to whom it publishes to. */
final class ConnectingPublisher implements AutoCloseable {

  private static final int PATIENCE_MILLIS = 20_000;

  private final ZMQ.Context context = ZMQ.context(1);
  private final ZMQ.Socket socket = context.socket(SocketType.XPUB);
  private final String topic;

  ConnectingPublisher(int port, String topic) {
    this.topic = topic;
    socket.setLinger(0);
    socket.setHandshakeIvl(500);
    socket.setReconnectIVL(50);
    socket.setReceiveTimeOut(PATIENCE_MILLIS);
    socket.connect("tcp://127.0.0.1:" + port);
  }

  /** Waits until the other side has subscribed. */
  ConnectingPublisher subscribed() {
    if (socket.recv() == null) {
      throw new AssertionError("nobody subscribed");
    }
    return this;
  }

  void send(long sequence, Object... events) {
    socket.send(topic.getBytes(StandardCharsets.UTF_8), ZMQ.SNDMORE);
    socket.send(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array(), ZMQ.SNDMORE);
    socket.send(EventBytes.batch(events), 0);
  }

  @Override
  public void close() {
    socket.close();
    context.close();
  }
}
