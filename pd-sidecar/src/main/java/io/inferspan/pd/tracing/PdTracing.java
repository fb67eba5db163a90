package io.inferspan.pd.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.PendingSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.semconv.CommonAttributes;
import io.inferspan.semconv.PdAttributes;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Opens the spans of requests. */
public final class PdTracing {
  private static final String PASSTHROUGH = "passthrough";
  private static final String OTHER_METHOD = "_OTHER";
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT");
  private static final PdTracing NOTHING =
      new PdTracing(Telemetry.using(OpenTelemetry.noop()), "", "");

  private final Telemetry telemetry;
  private final boolean proposalShape;
  private final String connector;
  private final String encodeConnector;

  /**
   * Spans for a sidecar.
   *
   * @param connector how KV blocks travel
   * @param encodeConnector how encoder output travels; empty for no encode stage
   */
  public PdTracing(Telemetry telemetry, String connector, String encodeConnector) {
    this.telemetry = telemetry;
    this.proposalShape = telemetry.spanNaming() == SpanNaming.PROPOSAL;
    this.connector = connector;
    this.encodeConnector = encodeConnector;
  }

  /**
   * Begins the trace of one request.
   *
   * @param method the HTTP method
   * @param route the path, where it is a known one, or a template
   * @param api the API where it is one that the proxy looks into, else null
   */
  public RequestTrace begin(
      HttpHeaders headers, String method, String route, @Nullable String api) {
    Context arrived = telemetry.extract(headers, NettyHeaders.HEADERS);
    if (proposalShape) {
      return new RequestTrace(this, null, request(arrived, route, api));
    }
    OperationSpan server =
        telemetry
            .span(PdSpans.SERVER, detail(known(method), route, api), arrived)
            .set(CommonAttributes.HTTP_REQUEST_METHOD, known(method))
            .set(CommonAttributes.HTTP_ROUTE, api == null ? null : route)
            .start();
    OperationSpan request = api == null ? server : request(server.context(), route, api);
    return new RequestTrace(this, server, request);
  }

  /** The trace of a request that is not to be seen; its headers stay as they came. */
  public static RequestTrace none() {
    return NOTHING.begin(new DefaultHttpHeaders(), "", "", null);
  }

  /** A request of no known route names no path: a span's name has few values. */
  private static String detail(String method, String route, @Nullable String api) {
    return api == null ? method : method + ' ' + route;
  }

  /** The method, if it is one: a client may make up any word. */
  static String known(String method) {
    return METHODS.contains(method) ? method : OTHER_METHOD;
  }

  private OperationSpan request(Context parent, String route, @Nullable String api) {
    PendingSpan request =
        telemetry
            .span(PdSpans.REQUEST, parent)
            .set(PdAttributes.CONNECTOR, connector)
            .set(PdAttributes.KV_CONNECTOR, connector)
            .set(PdAttributes.EC_CONNECTOR, encodeConnector)
            .set(PdAttributes.REQUEST_PATH, route)
            .set(PdAttributes.OPENAI_API, api);
    if (api == null) {
      request.set(PdAttributes.DISAGGREGATION_USED, false).set(PdAttributes.REASON, PASSTHROUGH);
    }
    return request.start();
  }

  Telemetry telemetry() {
    return telemetry;
  }

  /** Returns whether the tree has the proposal's shape: sibling stages, no spans for HTTP calls. */
  boolean proposalShape() {
    return proposalShape;
  }

  String connector() {
    return connector;
  }
}
