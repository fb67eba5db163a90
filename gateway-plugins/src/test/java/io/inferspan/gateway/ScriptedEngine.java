package io.inferspan.gateway;

import io.inferspan.gateway.Wire.Message;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** An engine that writes a test's bytes at times on its own clock. */
public final class ScriptedEngine implements AutoCloseable {

  private final ServerSocket server;
  private final Script script;
  private final List<Message> requests = new CopyOnWriteArrayList<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /** Answers one request. */
  @FunctionalInterface
  public interface Script {
    void answer(Call call) throws IOException;
  }

  public ScriptedEngine(Script script) throws IOException {
    this.script = script;
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    thread(this::accept);
  }

  private static void thread(Runnable work) {
    Thread thread = new Thread(work, "scripted-engine");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        open.add(socket);
        thread(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void serve(Socket socket) {
    try (Wire wire = new Wire(socket)) {
      while (true) {
        Message request = wire.read();
        long arrivedNanos = System.nanoTime();
        requests.add(request);
        script.answer(new Call(wire, request, arrivedNanos));
      }
    } catch (IOException closed) {
      // The gateway has gone, or the script has cut it off.
    } finally {
      open.remove(socket);
    }
  }

  public int port() {
    return server.getLocalPort();
  }

  /** The requests received, in their order. */
  public List<Message> requests() {
    return List.copyOf(requests);
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : open) {
      socket.close();
    }
  }

  /** One request to be answered. */
  public static final class Call {

    private final Wire wire;
    private final Message request;
    private final long arrivedNanos;

    private Call(Wire wire, Message request, long arrivedNanos) {
      this.wire = wire;
      this.request = request;
      this.arrivedNanos = arrivedNanos;
    }

    public Message request() {
      return request;
    }

    public long arrivedNanos() {
      return arrivedNanos;
    }

    /** Begins a chunked answer. */
    public void head(String contentType, String... headerLines) throws IOException {
      StringBuilder head = new StringBuilder("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n");
      head.append("Content-Type: ").append(contentType).append("\r\n");
      for (String line : headerLines) {
        head.append(line).append("\r\n");
      }
      wire.send(head.append("\r\n").toString());
    }

    /** Sends bytes as they are. */
    public void raw(String text) throws IOException {
      wire.send(text);
    }

    /** Sends a chunk. */
    public void chunk(byte[] bytes) throws IOException {
      byte[] size =
          (Integer.toHexString(bytes.length) + "\r\n").getBytes(StandardCharsets.US_ASCII);
      byte[] chunk = new byte[size.length + bytes.length + 2];
      System.arraycopy(size, 0, chunk, 0, size.length);
      System.arraycopy(bytes, 0, chunk, size.length, bytes.length);
      chunk[chunk.length - 2] = '\r';
      chunk[chunk.length - 1] = '\n';
      wire.send(chunk);
    }

    public void chunk(String text) throws IOException {
      chunk(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Ends a chunked answer. */
    public void end() throws IOException {
      wire.send("0\r\n\r\n");
    }

    /** Cuts the connection. */
    public void cut() throws IOException {
      wire.close();
    }

    /** Waits until so long after the request's arrival, closer than timers do. */
    public void at(long millis) {
      long due = arrivedNanos + TimeUnit.MILLISECONDS.toNanos(millis);
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        if (left > TimeUnit.MILLISECONDS.toNanos(2)) {
          LockSupport.parkNanos(left - TimeUnit.MILLISECONDS.toNanos(1));
        } else {
          Thread.onSpinWait();
        }
      }
    }
  }
}
