package io.inferspan.pd.connector;

import io.inferspan.pd.rig.SidecarRig;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** A streamed answer as its client reads it; closing it before its end is leaving. */
final class ClientStream implements AutoCloseable {
  private final InputStream body;

  private ClientStream(InputStream body) {
    this.body = body;
  }

  static ClientStream open(SidecarRig sidecar, HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return new ClientStream(
        sidecar.client().send(request.build(), BodyHandlers.ofInputStream()).body());
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
  public void close() throws IOException {
    body.close();
  }
}
