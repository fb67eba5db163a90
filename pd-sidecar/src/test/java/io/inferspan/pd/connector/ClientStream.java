package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.rig.SidecarRig;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;

/**
 * A client that reads a streamed response; closing it disconnects.
 *
 * <p>HttpClient would drop what it has received and not yet returned when the connection ends
 * early.
 */
final class ClientStream implements AutoCloseable {
  private final HttpURLConnection connection;
  private final InputStream body;

  private ClientStream(HttpURLConnection connection, InputStream body) {
    this.connection = connection;
    this.body = body;
  }

  /** Posts JSON; headers are given as name, value, name, value. */
  static ClientStream post(SidecarRig sidecar, String path, String json, String... headers)
      throws IOException {
    HttpURLConnection connection = (HttpURLConnection) sidecar.uri(path).toURL().openConnection();
    connection.setReadTimeout(10_000);
    connection.setRequestProperty("content-type", "application/json");
    for (int i = 0; i < headers.length; i += 2) {
      connection.setRequestProperty(headers[i], headers[i + 1]);
    }
    connection.setDoOutput(true);
    connection.getOutputStream().write(json.getBytes(UTF_8));
    return new ClientStream(connection, connection.getInputStream());
  }

  /** Reads until the received text ends with this text. */
  String readUntil(String text) throws IOException {
    StringBuilder read = new StringBuilder();
    while (read.indexOf(text) < 0) {
      int next = body.read();
      if (next < 0) {
        throw new AssertionError("the stream ended with " + read);
      }
      read.append((char) next);
    }
    return read.toString();
  }

  @Override
  public void close() {
    connection.disconnect();
  }
}
