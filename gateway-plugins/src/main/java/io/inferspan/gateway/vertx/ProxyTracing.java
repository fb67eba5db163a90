package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.streams.ReadStream;
import io.vertx.httpproxy.Body;
import io.vertx.httpproxy.OriginRequestProvider;
import io.vertx.httpproxy.ProxyContext;
import io.vertx.httpproxy.ProxyInterceptor;
import io.vertx.httpproxy.ProxyRequest;
import io.vertx.httpproxy.ProxyResponse;
import org.jspecify.annotations.Nullable;

/**
 * Traces the calls of a Vert.x {@code HttpProxy}. Add it as the first interceptor; to trace
 * WebSockets up to the end of their handshake, use {@code addInterceptor(…, true)}.
 *
 * <p>It works with and without a preceding handler of {@link VertxGateway}.
 */
public final class ProxyTracing implements ProxyInterceptor {

  private static final String ATTEMPT = UpstreamAttempt.class.getName();
  private static final int SWITCHING_PROTOCOLS = 101;

  private final VertxGateway gateway;

  /** Creates an interceptor, which starts the trace of a request unless a handler already has. */
  public ProxyTracing(VertxGateway gateway) {
    this.gateway = gateway;
  }

  /**
   * Wraps an origin to measure the time to connect; without it, that time counts as part of the
   * wait for the first token.
   */
  public static OriginRequestProvider timed(OriginRequestProvider origin) {
    return context ->
        origin
            .create(context)
            .onSuccess(
                call -> {
                  UpstreamAttempt attempt = attempt(context);
                  if (attempt != null) {
                    attempt.connected();
                  }
                });
  }

  private static @Nullable UpstreamAttempt attempt(ProxyContext context) {
    return context.get(ATTEMPT, UpstreamAttempt.class);
  }

  @Override
  public Future<ProxyResponse> handleProxyRequest(ProxyContext context) {
    ProxyRequest request = context.request();
    GatewayRequest live = gateway.begin(request.proxiedRequest());
    UpstreamAttempt attempt = live.attempt("", 0);
    context.set(ATTEMPT, attempt);
    attempt.inject(request.headers(), VertxGateway.HEADERS);
    Body body = request.getBody();
    if (body != null && live.watched()) {
      request.setBody(like(body, VertxGateway.asking(live, body.stream())));
    }
    return context
        .sendRequest()
        .compose(response -> requireFinal(context, response))
        .onFailure(cause -> VertxGateway.failed(attempt, cause));
  }

  private static Future<ProxyResponse> requireFinal(ProxyContext context, ProxyResponse response) {
    HttpClientResponse engine = response.proxiedResponse();
    return engine == null || context.isWebSocket()
        ? Future.succeededFuture(response)
        : VertxGateway.requireFinal(engine).map(response);
  }

  @Override
  public Future<Void> handleProxyResponse(ProxyContext context) {
    UpstreamAttempt attempt = attempt(context);
    ProxyResponse response = context.response();
    // Null if the proxy itself responds.
    HttpClientResponse engine = response.proxiedResponse();
    Body body = response.getBody();
    if (attempt != null && response.getStatusCode() == SWITCHING_PROTOCOLS) {
      attempt.responseHead(SWITCHING_PROTOCOLS, null, null);
      GatewayRequest live = gateway.begin(context.request().proxiedRequest());
      live.status(SWITCHING_PROTOCOLS);
      // Vert.x does not report the end of a connection that has become a WebSocket.
      return context.sendResponse().onSuccess(sent -> live.end());
    }
    if (attempt != null && attempt.watched() && engine != null && body != null) {
      response.setBody(like(body, VertxGateway.answering(attempt, engine, body.stream())));
    }
    return context.sendResponse();
  }

  private static Body like(Body body, ReadStream<Buffer> stream) {
    return Body.body(stream, body.length(), body.mediaType());
  }
}
