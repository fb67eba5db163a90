package io.inferspan.samples.gateway;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.IdentityHashMap;

/**
 * The client connections of one event loop. A connection is closed when nothing arrives on it for
 * the idle timeout. While it waits for a response, it stays open.
 */
final class Connections {

  private final Vertx vertx;
  private final long idleMillis;
  private final IdentityHashMap<HttpConnection, Client> clients = new IdentityHashMap<>();

  /**
   * The number of complete requests without a response, and the timer, which runs only while this
   * number is zero.
   */
  private static final class Client {
    private int openRequests;
    private long timer;
  }

  Connections(Vertx vertx, long idleMillis) {
    this.vertx = vertx;
    this.idleMillis = idleMillis;
  }

  void opened(HttpConnection connection) {
    Client client = new Client();
    clients.put(connection, client);
    // Otherwise, Vert.x would log data that the client sent.
    connection.exceptionHandler(broken -> {});
    connection.closeHandler(
        closed -> {
          clients.remove(connection);
          vertx.cancelTimer(client.timer);
        });
    restartTimer(connection, client);
  }

  /** Restarts the timer, which closes the connection when it expires. */
  private void restartTimer(HttpConnection connection, Client client) {
    vertx.cancelTimer(client.timer);
    client.timer = vertx.setTimer(idleMillis, late -> connection.close());
  }

  /** Called when a part of a request's body has arrived. */
  void received(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null && client.openRequests == 0) {
      restartTimer(request.connection(), client);
    }
  }

  /** Called when a request is complete; its response is not limited by the timer. */
  void answering(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null) {
      client.openRequests++;
      vertx.cancelTimer(client.timer);
    }
  }

  /** Called when a response is complete. */
  void answered(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null && --client.openRequests == 0) {
      restartTimer(request.connection(), client);
    }
  }
}
