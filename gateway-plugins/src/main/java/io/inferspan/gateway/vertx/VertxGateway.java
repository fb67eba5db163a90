package io.inferspan.gateway.vertx;

import io.inferspan.gateway.CurrentRequest;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.UpstreamAttempt;
import io.opentelemetry.context.Scope;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.StreamResetException;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.streams.ReadStream;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A gateway on Vert.x: its server's requests are traced from the first header to the last byte.
 *
 * <p>The end is learnt from the response's {@code endHandler}, of which there is one: code that
 * sets its own tells the {@link GatewayRequest} the end itself.
 */
public final class VertxGateway {

  private final GatewayTracing tracing;
  private final @Nullable CurrentRequest bridge;

  /** A gateway that passes contexts along and makes none current. */
  public VertxGateway(GatewayTracing tracing) {
    this(tracing, null);
  }

  /**
   * A gateway whose handlers run as a part of their request, for logs and other tracers.
   *
   * @param bridge to those; with null, no context is made current
   */
  public VertxGateway(GatewayTracing tracing, @Nullable CurrentRequest bridge) {
    this.tracing = tracing;
    this.bridge = bridge;
  }

  /** A server's request handler that begins the trace of each request and hands on both. */
  public Handler<HttpServerRequest> handler(BiConsumer<HttpServerRequest, GatewayRequest> gateway) {
    return request -> {
      GatewayRequest live = begin(request);
      try (Scope ignored = bridge == null ? null : bridge.enter(live.context())) {
        gateway.accept(request, live);
      } catch (RuntimeException e) {
        live.fail(e);
        throw e;
      }
    };
  }

  /** The trace of a request, begun if it was not; of use to code that is no handler of ours. */
  public GatewayRequest begin(HttpServerRequest request) {
    ContextInternal context = contextOf(request);
    GatewayRequest known = context == null ? null : RequestLocal.of(context);
    if (known != null) {
      return known;
    }
    GatewayRequest live = tracing.begin(new VertxExchange(request));
    if (context != null) {
      RequestLocal.keep(context, live);
    }
    if (live.watched()) {
      HttpServerResponse response = request.response();
      response.endHandler(end -> ended(live, response));
    }
    return live;
  }

  /** A request has a context of its own; one that is shared tells requests not apart. */
  private static @Nullable ContextInternal contextOf(HttpServerRequest request) {
    if (request instanceof HttpServerRequestInternal known && known.context().isDuplicate()) {
      return known.context();
    }
    return null;
  }

  private static void ended(GatewayRequest live, HttpServerResponse response) {
    if (response.headWritten()) {
      live.status(response.getStatusCode());
    }
    if (response.ended()) {
      live.end();
    } else {
      live.clientGone();
    }
  }

  /** The request that the Vert.x context of this thread works for; null where there is none. */
  public static @Nullable GatewayRequest current() {
    ContextInternal context = ContextInternal.current();
    return context == null || !context.isDuplicate() ? null : RequestLocal.of(context);
  }

  /** A connection to an engine is there: writes the trace into the headers of the call. */
  public static void calling(UpstreamAttempt attempt, HttpClientRequest call) {
    attempt.connected();
    VertxHeaders.inject(attempt, call.headers());
  }

  /** The body of a client's request, to be read or piped in its place. */
  public static ReadStream<Buffer> asking(GatewayRequest live, ReadStream<Buffer> body) {
    return live.watched() ? new SeenStream(body, live::requestBody) : body;
  }

  /** The body of an engine's answer, to be piped to the client in its place. */
  public static ReadStream<Buffer> answering(UpstreamAttempt attempt, HttpClientResponse answer) {
    return answering(attempt, answer, answer);
  }

  /** The same, with a body that others have changed or wrapped. */
  static ReadStream<Buffer> answering(
      UpstreamAttempt attempt, HttpClientResponse head, ReadStream<Buffer> body) {
    if (!attempt.watched()) {
      return body;
    }
    SocketAddress engine = head.request().connection().remoteAddress();
    if (engine != null && engine.host() != null) {
      attempt.target(engine.host(), engine.port());
    }
    attempt.responseHead(
        head.statusCode(),
        head.getHeader(HttpHeaders.CONTENT_TYPE),
        head.getHeader(HttpHeaders.CONTENT_ENCODING));
    return new SeenStream(body, new AnswerWatcher(attempt));
  }

  /** A call failed: by the engine, or by being reset for what befell the client. */
  static void failed(UpstreamAttempt attempt, Throwable cause) {
    if (cause instanceof StreamResetException reset && reset.getCause() != null) {
      attempt.clientGone();
    } else {
      attempt.fail(cause);
    }
  }

  private record AnswerWatcher(UpstreamAttempt attempt) implements SeenStream.Watcher {
    @Override
    public void piece(ByteBuffer bytes) {
      attempt.see(bytes);
    }

    @Override
    public void ended() {
      attempt.end();
    }

    @Override
    public void failed(Throwable cause) {
      VertxGateway.failed(attempt, cause);
    }
  }
}
