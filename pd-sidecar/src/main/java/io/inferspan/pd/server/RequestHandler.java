package io.inferspan.pd.server;

/** Answers requests; it is called on the event loop of the client's connection. */
@FunctionalInterface
public interface RequestHandler {

  /** A request's head has come; its body follows to whom {@link ClientExchange#body} names. */
  void handle(ClientExchange exchange);
}
