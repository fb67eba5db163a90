package io.inferspan.pd.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** An engine that takes a request and then resets the connection, as a killed process does. */
final class Resetter implements AutoCloseable {
  private static final int SILENCE_MILLIS = 50;

  private final ServerSocket server;
  private final Thread thread;

  Resetter() {
    try {
      server = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread = Thread.ofVirtual().start(this::serve);
  }

  String authority() {
    return "127.0.0.1:" + server.getLocalPort();
  }

  private void serve() {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        // If its client disconnects while it connects, the sidecar keeps a connection without data.
        socket.setSoTimeout(SILENCE_MILLIS);
        socket.setSoLinger(true, 0);
        int _ = socket.getInputStream().read();
      } catch (IOException e) {
        // The peer reset the connection first, or the test has ended.
      }
    }
  }

  @Override
  public void close() {
    try {
      server.close();
      thread.join();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
