package io.inferspan.samples.gateway;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.IdentityHashMap;

/**
 * The clients' connections of one event loop: closes each that has not sent a whole request for a
 * while. One that waits for its answer stays open.
 */
final class Connections {

  private final Vertx vertx;
  private final long idleMillis;
  private final IdentityHashMap<HttpConnection, Client> clients = new IdentityHashMap<>();

  /** Requests on a connection that are being answered, and the timer that runs while none is. */
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
    // Vert.x would log the client's data.
    connection.exceptionHandler(broken -> {});
    connection.closeHandler(
        closed -> {
          clients.remove(connection);
          vertx.cancelTimer(client.timer);
        });
    expect(connection, client);
  }

  /** More of a request has to come before the time is over. */
  private void expect(HttpConnection connection, Client client) {
    vertx.cancelTimer(client.timer);
    client.timer = vertx.setTimer(idleMillis, late -> connection.close());
  }

  /** A piece of a request's body has come. */
  void received(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null && client.answering == 0) {
      expect(request.connection(), client);
    }
  }

  /** A request is complete; its answer may take its time. */
  void answering(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null) {
      client.answering++;
      vertx.cancelTimer(client.timer);
    }
  }

  /** An answer is complete. */
  void answered(HttpServerRequest request) {
    Client client = clients.get(request.connection());
    if (client != null && --client.answering == 0) {
      expect(request.connection(), client);
    }
  }
}
