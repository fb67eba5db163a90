package io.inferspan.samples.ebpf.cost;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A closed-loop HTTP load over keep-alive connections. */
final class HttpLoad implements AutoCloseable {

  private static final byte[] END = "\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);

  private final AtomicLong answered = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private final String path;
  private volatile int sampledPercent;
  private volatile boolean closing;

  private HttpLoad(String path) {
    this.path = path;
  }

  static HttpLoad start(int port, String path, int connections) {
    HttpLoad load = new HttpLoad(path);
    for (int i = 0; i < connections; i++) {
      int number = i;
      load.threads.add(Thread.ofPlatform().daemon().start(() -> load.run(port, number)));
    }
    return load;
  }

  /** Sets the percentage of sampled requests. */
  void sample(int percent) {
    sampledPercent = percent;
  }

  /** Returns the number of requests that were answered. */
  long answered() {
    return answered.get();
  }

  private void run(int port, int number) {
    byte[] buffer = new byte[4096];
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      for (long request = 1; !closing; request++) {
        ask(socket.getOutputStream(), number, request);
        awaitAnswer(socket.getInputStream(), buffer);
        answered.incrementAndGet();
      }
    } catch (IOException e) {
      if (!closing) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void ask(OutputStream out, int number, long request) throws IOException {
    // Spreads the sampled requests: the factor 37 has no common divisor with 100.
    boolean sampled = request % 100 * 37 % 100 < sampledPercent;
    String head =
        "GET %s HTTP/1.1\r\nHost: localhost\r\ntraceparent: 00-%016x%016x-%016x-%s\r\n\r\n"
            .formatted(path, number + 1, request, request, sampled ? "01" : "00");
    out.write(head.getBytes(StandardCharsets.US_ASCII));
  }

  private static void awaitAnswer(InputStream in, byte[] buffer) throws IOException {
    int length = 0;
    while (!endsAnswer(buffer, length)) {
      int read = in.read(buffer, length, buffer.length - length);
      if (read <= 0) {
        throw new IOException("the server closed the connection");
      }
      length += read;
    }
  }

  private static boolean endsAnswer(byte[] buffer, int length) {
    return length >= END.length
        && Arrays.equals(buffer, length - END.length, length, END, 0, END.length);
  }

  @Override
  public void close() {
    closing = true;
    threads.forEach(Thread::interrupt);
  }
}
