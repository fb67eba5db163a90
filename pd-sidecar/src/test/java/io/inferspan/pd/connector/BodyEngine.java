package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.Wire;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** An engine that keeps the bodies of its requests, byte for byte, until a test reads them. */
final class BodyEngine implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 10;

  private final BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
  private final RawServer server = RawServer.running((wire, _) -> serve(wire));
  private volatile String answer;

  /** Starts an engine that answers with this JSON. */
  BodyEngine(String answer) {
    this.answer = answer;
  }

  private void serve(Wire wire) throws IOException {
    while (true) {
      bodies.add(utf8(wire.message().body()));
      String body = bytes(answer);
      wire.send("HTTP/1.1 200 OK\r\ncontent-length: " + body.length() + "\r\n\r\n" + body);
    }
  }

  /** Converts text to one character per byte of its UTF-8, as {@link Wire} expects. */
  static String bytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  private static String utf8(String bytes) {
    return new String(bytes.getBytes(ISO_8859_1), UTF_8);
  }

  void answer(String json) {
    answer = json;
  }

  /** Returns the body of the next request; waits for it if necessary. */
  String next() throws InterruptedException {
    String body = bodies.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (body == null) {
      throw new AssertionError("the engine received no request");
    }
    return body;
  }

  /** Returns the number of bodies that were not read. */
  int left() {
    return bodies.size();
  }

  int port() {
    return server.port();
  }

  String authority() {
    return server.authority();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
