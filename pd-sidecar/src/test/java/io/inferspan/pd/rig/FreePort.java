package io.inferspan.pd.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;

/** Finds ports without a listener. */
public final class FreePort {

  private FreePort() {}

  /** A port that was free a moment ago. */
  public static int next() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
