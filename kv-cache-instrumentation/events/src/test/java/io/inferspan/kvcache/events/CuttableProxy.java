package io.inferspan.kvcache.events;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A TCP relay whose connections can be cut, or hang, while both ends live. */
final class CuttableProxy implements AutoCloseable {

  private final ServerSocket server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final int port;
  private final AtomicInteger hanging = new AtomicInteger();

  private CuttableProxy(int port) throws IOException {
    this.port = port;
  }

  static CuttableProxy to(int port) throws IOException {
    CuttableProxy proxy = new CuttableProxy(port);
    start(proxy::accept);
    return proxy;
  }

  String endpoint() {
    return "tcp://127.0.0.1:" + server.getLocalPort();
  }

  /** Accepts so many connections more that it does not relay. */
  CuttableProxy hanging(int connections) {
    hanging.set(connections);
    return this;
  }

  /** The number of connections that are still to hang. */
  int hanging() {
    return hanging.get();
  }

  /** Cuts all connections; new ones are relayed again. */
  void cut() throws IOException {
    for (Socket socket : List.copyOf(sockets)) {
      sockets.remove(socket);
      socket.close();
    }
  }

  private interface Task {
    void run() throws IOException;
  }

  private static void start(Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (IOException e) {
                // The other end is gone, or the relay was closed.
                return;
              }
            },
            "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = server.accept();
      if (hanging.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        sockets.add(client);
        continue;
      }
      Socket upstream = new Socket(InetAddress.getLoopbackAddress(), port);
      sockets.add(client);
      sockets.add(upstream);
      start(() -> relay(client, upstream));
      start(() -> relay(upstream, client));
    }
  }

  private static void relay(Socket from, Socket to) throws IOException {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    cut();
  }
}
