package io.inferspan.pd.rig;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One end of a TCP connection, for exact bytes; it reads HTTP strictly. */
public final class Wire implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 5_000;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  /**
   * A message as received.
   *
   * @param head the first line and the headers, lines ending in CR LF, without the empty line
   * @param body the content without framing, chunks joined
   * @param trailers the trailers of a chunked body
   */
  public record Message(String head, String body, String trailers) {

    /** Returns the status code of a response. */
    public int status() {
      return Integer.parseInt(head.substring(9, 12));
    }

    /** Returns the first header of that name, or null. */
    public @Nullable String header(String name) {
      return field(head, name);
    }
  }

  public Wire(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MILLIS);
    this.in = new BufferedInputStream(socket.getInputStream());
    this.out = socket.getOutputStream();
  }

  /** Connects to a port of this machine. */
  public static Wire to(int port) throws IOException {
    return new Wire(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** Connects to a port of this machine, with a small buffer for received bytes. */
  public static Wire taking(int bytes, int port) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(bytes);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return new Wire(socket);
  }

  /** Sends text, one byte per character. */
  public Wire send(String text) throws IOException {
    return send(text.getBytes(ISO_8859_1));
  }

  public Wire send(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
    return this;
  }

  /** Sends text with one packet per byte. */
  public void trickle(String text) throws IOException {
    for (int i = 0; i < text.length(); i++) {
      send(text.substring(i, i + 1));
    }
  }

  /** Half-closes the connection: sends no more, but can still read. */
  public void halfClose() throws IOException {
    socket.shutdownOutput();
  }

  /** Ends the connection with a reset. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  /** Reads the first line and the headers. */
  public String head() throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
      head.append((char) one());
    }
    return head.substring(0, head.length() - 2);
  }

  /** Reads a message with a content length or chunks. */
  public Message message() throws IOException {
    return body(head());
  }

  /** Reads the rest of the message that begins with {@code head}. */
  public Message body(String head) throws IOException {
    String length = field(head, "content-length");
    String coding = field(head, "transfer-encoding");
    if (coding != null) {
      return chunked(head);
    }
    return new Message(head, length == null ? "" : bytes(Integer.parseInt(length)), "");
  }

  private Message chunked(String head) throws IOException {
    StringBuilder body = new StringBuilder();
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      body.append(bytes(size));
      line();
    }
    StringBuilder trailers = new StringBuilder();
    for (String line = line(); !line.isEmpty(); line = line()) {
      trailers.append(line).append("\r\n");
    }
    return new Message(head, body.toString(), trailers.toString());
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line(), 16);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = one(); c != '\n'; c = one()) {
      line.append((char) c);
    }
    return line.substring(0, line.length() - 1);
  }

  /** Reads exactly {@code count} bytes. */
  public String bytes(int count) throws IOException {
    byte[] bytes = in.readNBytes(count);
    if (bytes.length < count) {
      throw new EOFException("ended after " + bytes.length + " of " + count);
    }
    return new String(bytes, ISO_8859_1);
  }

  /** Reads and discards exactly {@code count} bytes. */
  public void skip(long count) throws IOException {
    in.skipNBytes(count);
  }

  private int one() throws IOException {
    int c = in.read();
    if (c < 0) {
      throw new EOFException("ended");
    }
    return c;
  }

  /** Reads to the end of the connection, or until it is reset. */
  public String rest() throws IOException {
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    try {
      in.transferTo(rest);
    } catch (SocketException e) {
      rest.writeBytes("<reset>".getBytes(ISO_8859_1));
    }
    return rest.toString(ISO_8859_1);
  }

  /** Reads the bytes that arrive within a time, if any. */
  public void rest(Duration patience) throws IOException {
    endsWithin((int) patience.toMillis());
  }

  /** Waits until the peer closes the connection, and reads the remaining data. */
  public boolean endsWithin(int millis) throws IOException {
    socket.setSoTimeout(millis);
    try {
      rest();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } finally {
      if (!socket.isClosed()) {
        socket.setSoTimeout(PATIENCE_MILLIS);
      }
    }
  }

  public Socket socket() {
    return socket;
  }

  private static @Nullable String field(String head, String name) {
    String wanted = "\r\n" + name.toLowerCase(Locale.ROOT) + ":";
    int at = head.toLowerCase(Locale.ROOT).indexOf(wanted);
    if (at < 0) {
      return null;
    }
    int from = at + wanted.length();
    return head.substring(from, head.indexOf("\r\n", from)).trim();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
