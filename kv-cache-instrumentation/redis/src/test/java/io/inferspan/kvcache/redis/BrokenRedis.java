package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that identifies as Redis and handles each connection by a script. */
final class BrokenRedis implements AutoCloseable {

  private static final byte[] WELCOME = "+OK\r\n".getBytes(ISO_8859_1);

  private final ServerSocket listening;
  private final Script script;
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();

  /** Handles one connection, which is closed afterwards. */
  interface Script {
    void run(InputStream in, OutputStream out) throws IOException, InterruptedException;
  }

  private BrokenRedis(ServerSocket listening, Script script) {
    this.listening = listening;
    this.script = script;
    thread(this::accept);
  }

  static BrokenRedis running(Script script) {
    try {
      return new BrokenRedis(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Accepts, reads, and never says a word. */
  static BrokenRedis silent() {
    return running((in, out) -> in.transferTo(OutputStream.nullOutputStream()));
  }

  /** Welcomes as Redis does, and answers what comes after that with a script. */
  static BrokenRedis afterWelcome(Script then) {
    return running(
        (in, out) -> {
          read(in);
          out.write(WELCOME);
          read(in);
          then.run(in, out);
        });
  }

  /** Waits for a command, and reads what has come of it. */
  static void read(InputStream in) throws IOException {
    if (in.read(new byte[65_536]) < 0) {
      throw new IOException("gone");
    }
  }

  private static void thread(Runnable task) {
    Thread thread = new Thread(task, "broken-redis");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listening.accept();
        open.add(socket);
        connections.incrementAndGet();
        thread(() -> serve(socket));
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      script.run(socket.getInputStream(), socket.getOutputStream());
    } catch (IOException e) {
      // The other end has gone, as it should.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      open.remove(socket);
    }
  }

  /** Returns the number of connections so far. */
  int connections() {
    return connections.get();
  }

  /** Returns the number of open connections. */
  int open() {
    return open.size();
  }

  String address() {
    return "redis://127.0.0.1:" + listening.getLocalPort();
  }

  @Override
  public void close() {
    try {
      listening.close();
      for (Socket socket : open) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
