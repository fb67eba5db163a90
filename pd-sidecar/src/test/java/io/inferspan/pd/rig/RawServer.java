package io.inferspan.pd.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A TCP server that handles each connection by a script, and closes it afterwards. */
public final class RawServer implements AutoCloseable {
  /** Longer than any test waits, so that no connection ends by a timeout of this server. */
  private static final int PATIENCE_MILLIS = 60_000;

  private final ServerSocket listening;
  private final Script script;
  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private final List<String> heads = new CopyOnWriteArrayList<>();
  private final AtomicInteger ended = new AtomicInteger();

  /** Handles one connection. */
  @FunctionalInterface
  public interface Script {
    void run(Wire wire, RawServer server) throws IOException;
  }

  private RawServer(ServerSocket listening, Script script) {
    this.listening = listening;
    this.script = script;
    Thread.ofVirtual().start(this::accept);
  }

  public static RawServer running(Script script) {
    try {
      return new RawServer(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Answers every request with this, and keeps the connection open. */
  public static RawServer answering(String answer) {
    return running(
        (wire, server) -> {
          while (true) {
            server.request(wire);
            wire.send(answer);
          }
        });
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listening.accept();
        accepted.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException _) {
      // It was closed.
    }
  }

  private void serve(Socket socket) {
    try (Wire wire = new Wire(socket)) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      script.run(wire, this);
    } catch (IOException _) {
      // The peer has disconnected, as in many tests.
    } finally {
      ended.incrementAndGet();
    }
  }

  /** Reads one request and records its head. */
  public Wire.Message request(Wire wire) throws IOException {
    String head = wire.head();
    heads.add(head);
    return wire.body(head);
  }

  /** Records a head that a script read itself. */
  public void saw(String head) {
    heads.add(head);
  }

  /** Returns the heads of the requests so far. */
  public List<String> heads() {
    return heads;
  }

  public int port() {
    return listening.getLocalPort();
  }

  public String authority() {
    return "127.0.0.1:" + port();
  }

  /** Returns the number of accepted connections. */
  public int connections() {
    return accepted.size();
  }

  /** Returns the number of connections that have ended. */
  public int ended() {
    return ended.get();
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : accepted) {
      socket.close();
    }
  }
}
