package io.inferspan.samples.demo;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The loopback ports of all processes.
 *
 * @param page the port of the trace desk's page: 8900 if it is free, so that an open browser tab
 *     can be reloaded
 */
record Ports(
    int page,
    int otlpGrpc,
    int otlpHttp,
    int gateway,
    List<Integer> sidecars,
    List<Integer> decoders,
    List<Integer> prefillers,
    List<Integer> kvEvents,
    int batchEngine,
    int batchGateway) {

  /** The number of prefill pods, and of decode pods. */
  static final int PODS = 2;

  private static final int DEFAULT_PAGE = 8900;

  /**
   * The range is below the ephemeral ports. Otherwise, an outgoing connection of one process could
   * take the port of another process before it listens.
   */
  private static final int LOWEST = 20_000;

  private static final int HIGHEST = 32_767;
  private static final int TRIES = 1_000;

  /** Returns free ports. Binds all of them at once, so that no two are the same. */
  static Ports free() throws IOException {
    List<ServerSocket> held = new ArrayList<>();
    try {
      return new Ports(
          page(held),
          free(held),
          free(held),
          free(held),
          free(held, PODS),
          free(held, PODS),
          free(held, PODS),
          free(held, 2 * PODS),
          free(held),
          free(held));
    } finally {
      for (ServerSocket socket : held) {
        socket.close();
      }
    }
  }

  private static int page(List<ServerSocket> held) throws IOException {
    try {
      held.add(new ServerSocket(DEFAULT_PAGE, 1, InetAddress.getLoopbackAddress()));
      return DEFAULT_PAGE;
    } catch (IOException e) {
      return free(held);
    }
  }

  private static List<Integer> free(List<ServerSocket> held, int count) throws IOException {
    List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ports.add(free(held));
    }
    return ports;
  }

  private static int free(List<ServerSocket> held) throws IOException {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST + 1);
      try {
        held.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
        return port;
      } catch (BindException _) {
        // Try another port.
      }
    }
    throw new IOException("No port from %d to %d is free.".formatted(LOWEST, HIGHEST));
  }
}
