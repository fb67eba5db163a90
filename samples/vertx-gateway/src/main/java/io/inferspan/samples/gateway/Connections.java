package io.inferspan.samples.gateway;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.IdentityHashMap;

/**
 * The client connections of one event loop. A connection that does not send a whole request in time
 * is closed; one that waits for its response stays open.
 */
final class Connections {

  private final Vertx vertx;
  private final long idleMillis;
  private final IdentityHashMap<HttpConnection, Client> clients = new IdentityHashMap<>();

  /** The number of open requests on a connection, and the timer that runs while there are none. */
  private static final class Client {
    private int answering;
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
    expect(connection, client);
  }

  /** Starts the timer. If it expires before more of a request arrives, the connection is closed. */
  private void expect(HttpConnection connection, Client client) {
    vertx.cancelTimer(client.timer);
    client.timer = vertx.setTimer(idleMillis, late -> connection.close());
  }

  /** Called when a part of a request's body has arrived. */
  void received(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null && client.answering == 0) {
      expect(request.connection(), client);
    }
  }

  /** Called when a request is complete; its response is not limited by the timer. */
  void answering(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null) {
      client.answering++;
      vertx.cancelTimer(client.timer);
    }
  }

  /** Called when a response is complete. */
  void answered(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null && --client.answering == 0) {
      expect(request.connection(), client);
    }
  }
}
