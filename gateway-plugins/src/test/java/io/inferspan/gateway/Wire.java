package io.inferspan.gateway;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** One HTTP/1.1 connection as bytes, for tests of what a client library would hide. */
public final class Wire implements AutoCloseable {

  /** Ends a test that hangs; a busy machine may stop a process for many seconds. */
  private static final int TIMEOUT_MILLIS = 120_000;

  private final Socket socket;
  private final InputStream in;

  public Wire(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  Wire(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** A message: its first line, its headers by lower-case name, and its body without framing. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Message(String firstLine, Map<String, List<String>> headers, byte[] body) {

    public int status() {
      return Integer.parseInt(firstLine.split(" ", 3)[1]);
    }

    public List<String> all(String name) {
      return headers.getOrDefault(name, List.of());
    }

    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }
  }

  /** A chat request as bytes, with more header lines if need be. */
  public static String chat(String body, String... headerLines) {
    StringBuilder text =
        new StringBuilder("POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\n");
    for (String line : headerLines) {
      text.append(line).append("\r\n");
    }
    return text.append("Content-Type: application/json\r\nContent-Length: ")
        .append(body.getBytes(StandardCharsets.UTF_8).length)
        .append("\r\n\r\n")
        .append(body)
        .toString();
  }

  public void send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /** Reads a whole message. */
  public Message read() throws IOException {
    Message head = readHead();
    return new Message(head.firstLine(), head.headers(), readBody(head));
  }

  /** Reads the first line and the headers. */
  public Message readHead() throws IOException {
    String first = line();
    Map<String, List<String>> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers
          .computeIfAbsent(
              line.substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(line.substring(colon + 1).trim());
    }
    return new Message(first, headers, new byte[0]);
  }

  /** Reads the body that belongs to a head. */
  public byte[] readBody(Message head) throws IOException {
    if (head.all("transfer-encoding").contains("chunked")) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      for (int size = chunkSize(); size > 0; size = chunkSize()) {
        body.write(exactly(size));
        line();
      }
      line();
      return body.toByteArray();
    }
    List<String> length = head.all("content-length");
    return length.isEmpty() ? new byte[0] : exactly(Integer.parseInt(length.get(0)));
  }

  /** Reads a body of chunks, and returns when this text of it had come, by the nano clock. */
  long readChunks(String text) throws IOException {
    StringBuilder seen = new StringBuilder();
    long nanos = 0;
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      seen.append(new String(exactly(size), StandardCharsets.UTF_8));
      line();
      if (nanos == 0 && seen.indexOf(text) >= 0) {
        nanos = System.nanoTime();
      }
    }
    line();
    if (nanos == 0) {
      throw new EOFException("the body has no " + text);
    }
    return nanos;
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line().trim(), 16);
  }

  private byte[] exactly(int size) throws IOException {
    byte[] bytes = in.readNBytes(size);
    if (bytes.length < size) {
      throw new EOFException("the peer closed within a body");
    }
    return bytes;
  }

  /** Reads until bytes have come that end so. */
  public void readUntil(String end) throws IOException {
    StringBuilder seen = new StringBuilder();
    while (seen.indexOf(end) < 0) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException("the peer closed before " + end);
      }
      seen.append((char) next);
    }
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int next = in.read();
    while (next != '\n') {
      if (next < 0) {
        throw new EOFException("the peer closed within a line");
      }
      line.write(next);
      next = in.read();
    }
    return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
