package io.inferspan.pd.server;

/** Answers requests; it is called on the event loop of the client's connection. */
@FunctionalInterface
public interface RequestHandler {

  /** Handles a request's head; its body goes to the listener set by {@link ClientExchange#body}. */
  void handle(ClientExchange exchange);
}
