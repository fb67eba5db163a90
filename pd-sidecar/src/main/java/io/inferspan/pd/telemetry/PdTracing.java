package io.inferspan.pd.telemetry;

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

/** Starts the spans of requests. */
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
   * Creates the tracing of a sidecar.
   *
   * @param encodeConnector the connector of encoder output; empty for no encode stage
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
   * @param route the path if it is known, or a template
   */
  public RequestTrace begin(HttpHeaders headers, String method, String route, Api api) {
    Context arrived = telemetry.extract(headers, NettyHeaders.HEADERS);
    if (proposalShape) {
      return new RequestTrace(this, null, request(arrived, route, api));
    }
    OperationSpan server =
        telemetry
            .span(PdSpans.SERVER, detail(known(method), route, api), arrived)
            .set(CommonAttributes.HTTP_REQUEST_METHOD, known(method))
            .set(CommonAttributes.HTTP_ROUTE, api == Api.PASSTHROUGH ? null : route)
            .start();
    OperationSpan request = api == Api.PASSTHROUGH ? server : request(server.context(), route, api);
    return new RequestTrace(this, server, request);
  }

  /** Returns the trace of a request that is not recorded; its headers are not changed. */
  public static RequestTrace none() {
    return NOTHING.begin(new DefaultHttpHeaders(), "", "", Api.PASSTHROUGH);
  }

  /**
   * Returns the method and the route; without a known route only the method, so that span names
   * have few values.
   */
  private static String detail(String method, String route, Api api) {
    return api == Api.PASSTHROUGH ? method : method + ' ' + route;
  }

  /** Returns the method if it is a known one, because a client may send any word. */
  static String known(String method) {
    return METHODS.contains(method) ? method : OTHER_METHOD;
  }

  private OperationSpan request(Context parent, String route, Api api) {
    PendingSpan request =
        telemetry
            .span(PdSpans.REQUEST, parent)
            .set(PdAttributes.CONNECTOR, connector)
            .set(PdAttributes.KV_CONNECTOR, connector)
            .set(PdAttributes.EC_CONNECTOR, encodeConnector)
            .set(PdAttributes.REQUEST_PATH, route)
            .set(PdAttributes.OPENAI_API, api == Api.PASSTHROUGH ? null : api.label());
    if (api == Api.PASSTHROUGH) {
      request.set(PdAttributes.DISAGGREGATION_USED, false).set(PdAttributes.REASON, PASSTHROUGH);
    }
    return request.start();
  }

  Telemetry telemetry() {
    return telemetry;
  }

  /**
   * Returns whether spans form the tree of llm-d's tracing proposal, in which stages are siblings
   * and HTTP calls have no spans.
   */
  boolean proposalShape() {
    return proposalShape;
  }

  String connector() {
    return connector;
  }
}
