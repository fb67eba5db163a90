package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Redis's protocol by hand, so that tests see the very bytes; a character stands for a byte.
 *
 * <p>It shares nothing with the client under test.
 */
public final class RawRedis implements AutoCloseable {

  private static final int PATIENCE_MILLIS = 10_000;

  private final Socket socket;
  private final InputStream in;

  private RawRedis(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  static RawRedis connect(int port) {
    try {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      return new RawRedis(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends a command and returns the answer as lines, nested ones as they come. */
  public List<String> send(String... words) {
    try {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(("*" + words.length + "\r\n").getBytes(ISO_8859_1));
      for (String word : words) {
        byte[] bytes = word.getBytes(ISO_8859_1);
        out.writeBytes(("$" + bytes.length + "\r\n").getBytes(ISO_8859_1));
        out.writeBytes(bytes);
        out.writeBytes("\r\n".getBytes(ISO_8859_1));
      }
      socket.getOutputStream().write(out.toByteArray());
      List<String> answer = new ArrayList<>();
      read(answer);
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All keys, sorted. */
  public List<String> keys() {
    return send("KEYS", "*").stream().sorted().toList();
  }

  private void read(List<String> into) throws IOException {
    String head = line();
    char type = head.charAt(0);
    if (type == '*') {
      int parts = Integer.parseInt(head.substring(1));
      for (int i = 0; i < parts; i++) {
        read(into);
      }
    } else if (type == '$') {
      int length = Integer.parseInt(head.substring(1));
      into.add(length < 0 ? "(nil)" : bulk(length));
    } else {
      into.add(type == '-' ? head : head.substring(1));
    }
  }

  private String bulk(int length) throws IOException {
    byte[] bytes = in.readNBytes(length + 2);
    if (bytes.length < length + 2) {
      throw new EOFException();
    }
    return new String(bytes, 0, length, ISO_8859_1);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\r'; next = in.read()) {
      if (next < 0) {
        throw new EOFException();
      }
      line.append((char) next);
    }
    in.read();
    return line.toString();
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
