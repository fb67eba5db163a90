package io.inferspan.gateway.vertx;

import io.inferspan.gateway.CurrentRequest;
import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.TraceSetter;
import io.inferspan.gateway.UpstreamAttempt;
import io.netty.util.NetUtil;
import io.opentelemetry.context.Scope;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.StreamResetException;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.core.spi.tracing.VertxTracer;
import io.vertx.core.streams.ReadStream;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Traces the requests of a Vert.x server from the first header to the last byte.
 *
 * <p>It observes the end of a response through Vert.x's tracing SPI, so other code may set any
 * handler of the response. If Vert.x has another tracer, wrap that with {@link #beforeTracer}. If
 * it is not wrapped, only the response's {@code endHandler} reports the end, and code that replaces
 * this handler must call {@link GatewayRequest#end}.
 */
public final class VertxGateway {

  /** Writes trace context into headers, replacing the client's. */
  static final TraceSetter<MultiMap> HEADERS =
      new TraceSetter<>(MultiMap::set, MultiMap::remove, MultiMap::getAll);

  private static final int FIRST_FINAL_STATUS = 200;

  private final GatewayTracing tracing;
  private final @Nullable CurrentRequest bridge;

  /** Creates an instance that does not make contexts current. */
  public VertxGateway(GatewayTracing tracing) {
    this(tracing, null);
  }

  /**
   * Creates an instance whose handlers run with their request's context as the current context, for
   * logs and other tracers.
   *
   * @param bridge makes contexts current; null for none
   */
  public VertxGateway(GatewayTracing tracing, @Nullable CurrentRequest bridge) {
    this.tracing = tracing;
    this.bridge = bridge;
  }

  /**
   * Returns a tracer that reports the end of each response to the gateway, and then to {@code
   * users}.
   */
  @SuppressWarnings("unchecked") // a tracer is passed only objects that it returned
  public static VertxTracerFactory beforeTracer(VertxTracerFactory users) {
    // Vert.x accepts a factory that returns null, although this is not documented.
    return options ->
        new ResponseEnds(Objects.requireNonNullElse(users.tracer(options), VertxTracer.NOOP));
  }

  /**
   * Returns a server's request handler that starts the trace of each request, and passes the
   * request and its trace to {@code gateway}.
   */
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

  /** Begins the trace of a request, or returns the one that a {@link #handler} has begun. */
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

  /** Returns the request's own context; a shared context cannot distinguish requests. */
  private static @Nullable ContextInternal contextOf(HttpServerRequest request) {
    if (request instanceof HttpServerRequestInternal known && known.context().isDuplicate()) {
      return known.context();
    }
    return null;
  }

  static void ended(GatewayRequest live, HttpServerResponse response) {
    if (response.headWritten()) {
      live.status(response.getStatusCode());
    }
    if (response.ended()) {
      live.end();
    } else {
      live.clientGone();
    }
  }

  /** Returns the request of this thread's Vert.x context; null if there is none. */
  public static @Nullable GatewayRequest current() {
    ContextInternal context = ContextInternal.current();
    return context == null || !context.isDuplicate() ? null : RequestLocal.of(context);
  }

  /**
   * Records that a connection to an engine is available, and writes the trace context into the
   * headers of the call.
   */
  public static void calling(UpstreamAttempt attempt, HttpClientRequest call) {
    attempt.connected();
    attempt.inject(call.headers(), HEADERS);
  }

  /** Returns the observed body of a client's request; read or pipe it instead of the original. */
  public static ReadStream<Buffer> asking(GatewayRequest live, ReadStream<Buffer> body) {
    return live.watched() ? new ObservedStream(body, live::requestBody) : body;
  }

  /**
   * Fails unless {@code answer} has a final status. Compose it after {@code send}.
   *
   * <p>Vert.x's client treats an interim status other than 100 and 103 as the final response, and
   * returns the connection to its pool, where the next request would receive the real response.
   * This method therefore closes the connection or, with HTTP/2, resets the stream. Do not use it
   * for calls that upgrade the connection.
   */
  public static Future<HttpClientResponse> requireFinal(HttpClientResponse answer) {
    if (isFinal(answer)) {
      return Future.succeededFuture(answer);
    }
    abandon(answer);
    return Future.failedFuture(
        new ProtocolException(
            "the engine responded with the interim status " + answer.statusCode()));
  }

  private static boolean isFinal(HttpClientResponse answer) {
    return answer.statusCode() >= FIRST_FINAL_STATUS;
  }

  private static void abandon(HttpClientResponse answer) {
    HttpClientRequest call = answer.request();
    if (call.version() == HttpVersion.HTTP_2) {
      call.reset();
    } else {
      // A reset has no effect if the call has ended, which is possible on a worker or virtual
      // thread.
      call.connection().close();
    }
  }

  /**
   * Returns the observed body of an engine's response; pipe it to the client instead of the
   * original.
   *
   * <p>If the response is not final, its connection is closed or its HTTP/2 stream reset. {@link
   * #requireFinal} also makes the call fail, so that the gateway can respond to its client.
   */
  public static ReadStream<Buffer> answering(UpstreamAttempt attempt, HttpClientResponse answer) {
    return answering(attempt, answer, answer);
  }

  /**
   * Returns the observed body of an engine's response, from a body that other code has changed or
   * wrapped.
   */
  static ReadStream<Buffer> answering(
      UpstreamAttempt attempt, HttpClientResponse head, ReadStream<Buffer> body) {
    if (!isFinal(head)) {
      abandon(head);
    }
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
    if (!isFinal(head)) {
      attempt.fail("interim_answer");
    }
    return new ObservedStream(body, new ResponseObserver(attempt));
  }

  /** Ends an attempt whose call failed, or was reset because the client disconnected. */
  static void failed(UpstreamAttempt attempt, Throwable cause) {
    if (cause instanceof StreamResetException reset && reset.getCause() != null) {
      attempt.clientGone();
    } else {
      attempt.fail(cause);
    }
  }

  private record ResponseObserver(UpstreamAttempt attempt) implements ObservedStream.Observer {
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

  /** A request of a Vert.x server. */
  private record VertxExchange(HttpServerRequest request) implements GatewayExchange {

    @Override
    public String method() {
      return request.method().name();
    }

    @Override
    public String path() {
      return request.uri();
    }

    @Override
    public @Nullable String header(String name) {
      return request.headers().get(name);
    }

    @Override
    public Iterator<String> headers(String name) {
      return request.headers().getAll(name).iterator();
    }

    @Override
    public @Nullable InetAddress peer() {
      SocketAddress peer = request.remoteAddress();
      String address = peer == null ? null : peer.hostAddress();
      return address == null ? null : NetUtil.createInetAddressFromIpAddressString(address);
    }
  }
}
