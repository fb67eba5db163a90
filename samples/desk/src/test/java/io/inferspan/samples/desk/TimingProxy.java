package io.inferspan.samples.desk;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A TCP proxy in front of a completions server that records when a request was sent and when its
 * first token came back.
 *
 * <p>These times are independent of any span.
 */
final class TimingProxy implements AutoCloseable {

  private static final int BUFFER_BYTES = 64 << 10;
  private static final long SOON_SECONDS = 10;

  private final ServerSocket listening;
  private final int server;
  private final BlockingQueue<TimedRequest> timedRequests = new LinkedBlockingQueue<>();

  /**
   * One request, in milliseconds since 1970.
   *
   * @param sentMillis when its last byte was sent
   * @param firstTokenMillis when the first token came back
   */
  record TimedRequest(double sentMillis, double firstTokenMillis) {

    double tookMillis() {
      return firstTokenMillis - sentMillis;
    }
  }

  /** Creates a proxy in front of a server on a loopback port. */
  TimingProxy(int server) throws IOException {
    this.server = server;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().name("timing-proxy").start(this::accept);
  }

  String authority() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  int port() {
    return listening.getLocalPort();
  }

  /** Returns the only request since the last call. */
  TimedRequest take() throws InterruptedException {
    TimedRequest timed = timedRequests.poll(SOON_SECONDS, TimeUnit.SECONDS);
    if (timed == null || !timedRequests.isEmpty()) {
      throw new AssertionError("expected one request, but got " + timed + " and " + timedRequests);
    }
    return timed;
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listening.accept();
        Socket to = new Socket(InetAddress.getLoopbackAddress(), server);
        client.setTcpNoDelay(true);
        to.setTcpNoDelay(true);
        Wire wire = new Wire(client, to);
        Thread.ofPlatform().daemon().name("tap-in").start(wire::in);
        Thread.ofPlatform().daemon().name("tap-out").start(wire::out);
      }
    } catch (IOException e) {
      // The proxy was closed.
    }
  }

  /** One connection, on which requests follow each other. */
  private final class Wire {

    private final Socket client;
    private final Socket to;
    private volatile long askedNanos;
    private volatile boolean isAnswered;

    Wire(Socket client, Socket to) {
      this.client = client;
      this.to = to;
    }

    void in() {
      pass(
          client,
          to,
          (piece, length) -> {
            askedNanos = System.nanoTime();
            isAnswered = false;
          });
    }

    void out() {
      pass(
          to,
          client,
          (piece, length) -> {
            long now = System.nanoTime();
            if (!isAnswered && hasToken(piece, length)) {
              isAnswered = true;
              double nowMillis = Duration.between(Instant.EPOCH, Instant.now()).toNanos() / 1e6;
              timedRequests.add(new TimedRequest(nowMillis - (now - askedNanos) / 1e6, nowMillis));
            }
          });
    }

    private void pass(Socket from, Socket into, Watch watch) {
      byte[] piece = new byte[BUFFER_BYTES];
      try (from;
          into;
          InputStream in = from.getInputStream();
          OutputStream out = into.getOutputStream()) {
        for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
          watch.sees(piece, length);
          out.write(piece, 0, length);
        }
      } catch (IOException e) {
        // One side has closed, so both are closed now.
      }
    }
  }

  /** Returns whether the bytes have a token: a stream's head arrives before its first event. */
  private static boolean hasToken(byte[] piece, int length) {
    String text = new String(piece, 0, length, StandardCharsets.ISO_8859_1);
    return text.contains("data:") || text.contains("\"choices\"");
  }

  /** Examines the bytes before they are passed on. */
  private interface Watch {
    void sees(byte[] piece, int length);
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
