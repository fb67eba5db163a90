package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRequest;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.tracing.SpanKind;
import io.vertx.core.spi.tracing.TagExtractor;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.tracing.TracingPolicy;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Observes the end of a response through Vert.x's tracing SPI, independently of handlers set on the
 * response.
 *
 * @param next the user's own tracer, or {@link VertxTracer#NOOP}
 */
record ResponseEnds(VertxTracer<Object, Object> next) implements VertxTracer<Object, Object> {

  /** The value that the user's tracer returned for a request. */
  private record Received(HttpServerRequest request, Object theirs) {}

  @Override
  public <R> @Nullable Object receiveRequest(
      Context context,
      SpanKind kind,
      TracingPolicy policy,
      R request,
      String operation,
      Iterable<Map.Entry<String, String>> headers,
      TagExtractor<R> tags) {
    Object theirs = next.receiveRequest(context, kind, policy, request, operation, headers, tags);
    if (!(request instanceof HttpServerRequest received)) {
      return theirs;
    }
    return theirs == null ? received : new Received(received, theirs);
  }

  @Override
  public <R> void sendResponse(
      Context context,
      @Nullable R response,
      @Nullable Object payload,
      @Nullable Throwable failure,
      TagExtractor<R> tags) {
    Object theirs = payload;
    if (payload instanceof HttpServerRequest request) {
      ended(context, request);
      theirs = null;
    } else if (payload instanceof Received received) {
      ended(context, received.request());
      theirs = received.theirs();
    }
    if (theirs != null) {
      next.sendResponse(context, response, theirs, failure, tags);
    }
  }

  private static void ended(Context context, HttpServerRequest request) {
    GatewayRequest live = RequestLocal.of((ContextInternal) context);
    if (live != null && live.watched()) {
      VertxGateway.ended(live, request.response());
    }
  }

  @Override
  public <R> @Nullable Object sendRequest(
      Context context,
      SpanKind kind,
      TracingPolicy policy,
      R request,
      String operation,
      BiConsumer<String, String> headers,
      TagExtractor<R> tags) {
    return next.sendRequest(context, kind, policy, request, operation, headers, tags);
  }

  @Override
  public <R> void receiveResponse(
      Context context,
      @Nullable R response,
      @Nullable Object payload,
      @Nullable Throwable failure,
      TagExtractor<R> tags) {
    next.receiveResponse(context, response, payload, failure, tags);
  }

  @Override
  public void close() {
    next.close();
  }
}
