package io.inferspan.pd.rig;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Finds ports without a listener, each one once.
 *
 * <p>They are below the ports that the kernel selects for port 0, so that no server that starts
 * later gets one of them.
 */
public final class FreePort {
  private static final int FIRST = 10_000;
  private static final int LAST = 30_000;

  /** Leaves room for the ports of further ranks. */
  private static final int STEP = 10;

  private static final AtomicInteger PORT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(FIRST, LAST));

  private FreePort() {}

  /** Returns a port that was free at the time of the call. */
  public static int next() {
    while (true) {
      int port = PORT.updateAndGet(before -> before > LAST ? FIRST : before + STEP);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // It is in use.
      }
    }
  }
}
