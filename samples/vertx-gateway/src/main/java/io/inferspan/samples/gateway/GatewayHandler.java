package io.inferspan.samples.gateway;

import io.inferspan.epp.Tokenizer;
import io.inferspan.gateway.vertx.VertxGateway;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Handles a server's requests: reads the whole body, within limits, and starts the exchange. */
final class GatewayHandler implements Handler<HttpServerRequest> {

  private static final String HEALTH = "/health";

  /** Browsers request it automatically, and engines do not have it. */
  private static final String ICON = "/favicon.ico";

  private static final int NOT_FOUND = 404;

  private final Parts parts;
  private final int maxBodyBytes;

  /** The collaborators of a handler. */
  record Parts(
      Vertx vertx,
      HttpClient client,
      GatewayConfig config,
      Fleet fleet,
      Routing routing,
      Connections connections,
      @Nullable VertxGateway tracing,
      Tokenizer tokenizer) {}

  GatewayHandler(Parts parts) {
    this.parts = parts;
    this.maxBodyBytes = parts.config().maxBodyBytes();
  }

  @Override
  public void handle(HttpServerRequest request) {
    if (!isOurs(request)) {
      Refusal.NO_REQUEST.answerAndClose(request);
      return;
    }
    if (HEALTH.equals(request.path())) {
      // Not traced: probes request it every few seconds.
      request.response().end();
      return;
    }
    if (ICON.equals(request.path())) {
      request.response().setStatusCode(NOT_FOUND).end();
      return;
    }
    serve(request);
  }

  /**
   * Returns whether the request is for this server: not a proxy request, and with exactly one host.
   */
  private static boolean isOurs(HttpServerRequest request) {
    return request.headers().getAll(HttpHeaders.HOST).size() == 1
        && request.uri().startsWith("/")
        && !HttpMethod.CONNECT.equals(request.method());
  }

  private void serve(HttpServerRequest request) {
    RequestTrace trace = RequestTrace.begin(parts.tracing(), request);
    Exchange exchange = new Exchange(parts, request, trace);
    Body body = new Body(exchange, request);
    request
        .handler(body)
        .endHandler(end -> body.complete())
        .exceptionHandler(broken -> refuse(request));
  }

  /** Answers a malformed body, unless the client has disconnected. */
  private static void refuse(HttpServerRequest request) {
    if (!request.response().ended() && !request.response().closed()) {
      Refusal.NO_REQUEST.answerAndClose(request);
    }
  }

  /** A request's body while it is received. */
  private final class Body implements Handler<Buffer> {
    private final Exchange exchange;
    private final HttpServerRequest request;
    private final List<Buffer> pieces = new ArrayList<>();
    private int length;
    private boolean refused;

    Body(Exchange exchange, HttpServerRequest request) {
      this.exchange = exchange;
      this.request = request;
    }

    @Override
    public void handle(Buffer piece) {
      parts.connections().received(request);
      if (refused) {
        return;
      }
      if (piece.length() > maxBodyBytes - length) {
        refused = true;
        pieces.clear();
        Refusal.TOO_LONG.answer(request.response());
      } else {
        length += piece.length();
        pieces.add(piece);
      }
    }

    void complete() {
      parts.connections().answering(request);
      request.response().bodyEndHandler(end -> parts.connections().answered(request));
      if (!refused) {
        boolean inference = HttpMethod.POST.equals(request.method());
        exchange.serve(joined(), inference);
      }
    }

    /**
     * Joins the pieces at the end. Joining each piece when it arrives would copy the body each
     * time.
     */
    private Buffer joined() {
      if (pieces.size() == 1) {
        return pieces.get(0);
      }
      Buffer whole = Buffer.buffer(length);
      pieces.forEach(whole::appendBuffer);
      return whole;
    }
  }
}
