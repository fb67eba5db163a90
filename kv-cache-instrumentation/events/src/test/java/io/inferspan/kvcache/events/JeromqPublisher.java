package io.inferspan.kvcache.events;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/** A publisher over JeroMQ that binds or connects. */
final class JeromqPublisher implements AutoCloseable {

  private static final int PATIENCE_MILLIS = 20_000;

  private final ZMQ.Context context = ZMQ.context(1);
  private final ZMQ.Socket socket = context.socket(SocketType.XPUB);
  private final String topic;

  private JeromqPublisher(String topic) {
    this.topic = topic;
    socket.setLinger(0);
    socket.setSndHWM(0);
    socket.setHandshakeIvl(500);
    socket.setReconnectIVL(50);
    socket.setReceiveTimeOut(PATIENCE_MILLIS);
  }

  static JeromqPublisher connectedTo(int port, String topic) {
    JeromqPublisher publisher = new JeromqPublisher(topic);
    publisher.socket.connect("tcp://127.0.0.1:" + port);
    return publisher;
  }

  static JeromqPublisher boundTo(int port, String topic) {
    JeromqPublisher publisher = new JeromqPublisher(topic);
    publisher.socket.bind("tcp://127.0.0.1:" + port);
    return publisher;
  }

  /** Waits until the first has subscribed. */
  JeromqPublisher subscribed() {
    if (socket.recv() == null) {
      throw new AssertionError("no subscriber connected");
    }
    return this;
  }

  void send(long sequence, Object... events) {
    sendOn(topic, sequence, events);
  }

  void sendOn(String otherTopic, long sequence, Object... events) {
    socket.send(otherTopic.getBytes(StandardCharsets.UTF_8), ZMQ.SNDMORE);
    socket.send(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array(), ZMQ.SNDMORE);
    socket.send(EventBytes.batch(events), 0);
  }

  @Override
  public void close() {
    socket.close();
    context.close();
  }
}
