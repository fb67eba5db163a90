package io.inferspan.ebpf;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/** A proxy of a local port that delays each direction by a different time. */
final class DelayingProxy implements AutoCloseable {

  private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
  private final int target;

  private DelayingProxy(int target) throws IOException {
    this.target = target;
  }

  static DelayingProxy to(int target, long thereMillis, long backMillis) throws IOException {
    DelayingProxy proxy = new DelayingProxy(target);
    Thread.ofVirtual().start(() -> proxy.accept(thereMillis, backMillis));
    return proxy;
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept(long thereMillis, long backMillis) {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        client.setTcpNoDelay(true);
        Thread.ofVirtual().start(() -> connect(client, thereMillis, backMillis));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void connect(Socket client, long thereMillis, long backMillis) {
    try (client;
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
      server.setTcpNoDelay(true);
      Thread.ofVirtual().start(() -> copy(client, server, thereMillis));
      copy(server, client, backMillis);
    } catch (IOException gone) {
      // Both ends are closed.
    }
  }

  private static void copy(Socket from, Socket to, long millis) {
    byte[] bytes = new byte[4_096];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        TimeUnit.MILLISECONDS.sleep(millis);
        out.write(bytes, 0, read);
      }
    } catch (IOException gone) {
      // Both ends are closed.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
