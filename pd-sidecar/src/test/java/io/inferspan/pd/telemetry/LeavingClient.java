package io.inferspan.pd.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;

/** A client on a plain socket that a test can disconnect at any time. */
public final class LeavingClient implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 10_000;

  private final Socket socket;

  private LeavingClient(Socket socket) {
    this.socket = socket;
  }

  /** Posts JSON with these header lines. */
  public static LeavingClient post(int port, String path, String json, String... headerLines) {
    try {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout(PATIENCE_MILLIS);
      byte[] body = json.getBytes(UTF_8);
      StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nhost: test\r\n");
      for (String line : headerLines) {
        head.append(line).append("\r\n");
      }
      head.append("content-type: application/json\r\ncontent-length: ")
          .append(body.length)
          .append("\r\n\r\n");
      socket.getOutputStream().write(head.toString().getBytes(UTF_8));
      socket.getOutputStream().write(body);
      return new LeavingClient(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits at most {@code limit} for each piece of the response. */
  public LeavingClient patient(Duration limit) {
    try {
      socket.setSoTimeout((int) limit.toMillis());
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads until {@code text} or the end of the connection; returns everything received. */
  public String readUntil(String text) {
    try {
      InputStream in = socket.getInputStream();
      ByteArrayOutputStream read = new ByteArrayOutputStream();
      byte[] piece = new byte[8192];
      while (!read.toString(UTF_8).contains(text)) {
        int count = in.read(piece);
        if (count < 0) {
          break;
        }
        read.write(piece, 0, count);
      }
      return read.toString(UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Resets the connection, as if the process was killed. */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
