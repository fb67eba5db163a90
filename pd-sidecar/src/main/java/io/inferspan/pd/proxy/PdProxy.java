package io.inferspan.pd.proxy;

import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.relay.Errors;
import io.inferspan.pd.relay.ForwardedHeaders;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.server.RequestHandler;
import io.inferspan.pd.stage.Decision;
import io.inferspan.pd.stage.LiveRequest;
import io.inferspan.pd.stage.ProxyParts;
import io.inferspan.pd.tracing.RequestTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.semconv.PdAttributes;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Decides what becomes of each request. */
public final class PdProxy implements RequestHandler {
  private static final String DENIED = "Forbidden: prefill target not allowed by SSRF protection";

  private static final String UNREADABLE = "not host:port";

  private final ProxyParts parts;
  private final Connector connector;
  private final InterceptedRoutes routes;

  public PdProxy(ProxyParts parts, Connector connector) {
    this.parts = parts;
    this.connector = connector;
    this.routes = new InterceptedRoutes(parts, connector);
  }

  @Override
  public void handle(ClientExchange exchange) {
    HttpRequest request = exchange.request();
    HttpMethod method = request.method();
    request.setUri(Routes.originForm(request.uri()));
    // A tunnel names no path, but where it wants to go.
    String path = method.equals(HttpMethod.CONNECT) ? "" : Routes.path(request.uri());
    if (Routes.isHealth(method, path)) {
      exchange.respond(HttpResponseStatus.OK, new DefaultHttpHeaders(), Unpooled.EMPTY_BUFFER);
      return;
    }
    Api api = Routes.api(method, path);
    HttpHeaders headers = request.headers();
    // Before what is for one hop goes: no client can have the picker's headers removed that way.
    RoutingHeaders routing =
        api == Api.PASSTHROUGH ? RoutingHeaders.NONE : RoutingHeaders.takeFrom(headers);
    ForwardedHeaders.fromClient(request, exchange.clientAddress());
    RequestTrace trace =
        Routes.isUntraced(method, path)
            ? parts.tracing().none()
            : parts.tracing().begin(headers, method.name(), path, label(api));
    LiveRequest live = LiveRequest.begin(exchange, parts, api, trace);
    live.guard(() -> dispatch(live, api, routing));
  }

  private void dispatch(LiveRequest live, Api api, RoutingHeaders routing) {
    if (live.exchange().request().method().equals(HttpMethod.CONNECT)) {
      refuseTunnel(live);
    } else if (api == Api.PASSTHROUGH) {
      int rank = live.exchange().rank();
      StreamedLeg.start(live, parts.engines().decoders(), parts.decoders().of(rank));
    } else {
      intercept(live, api, routing);
    }
  }

  private static @Nullable String label(Api api) {
    return api == Api.PASSTHROUGH ? null : api.label();
  }

  private void intercept(LiveRequest live, Api api, RoutingHeaders routing) {
    String chosen = choose(routing.prefillers());
    Target prefiller = chosen == null ? null : Target.parse(chosen);
    if (chosen == null) {
      live.trace().notDisaggregated("no_prefill_header");
    } else if (!parts.allowList().allows(chosen)) {
      deny(live, prefiller == null ? UNREADABLE : prefiller.authority());
      return;
    } else if (prefiller == null) {
      refuse(live, "the prefill target is not host:port");
      return;
    } else {
      live.trace().disaggregated(prefiller.authority(), routing.prefillers().size());
    }
    String source = kvSource(routing.kvSource());
    live.trace().set(PdAttributes.KV_CACHE_SOURCE, source);
    List<Target> encoders = encoders(routing.encoders(), live.trace());
    routes.serve(live, new Decision(api, prefiller, encoders, source, routing.dataParallel()));
  }

  private @Nullable String choose(List<String> candidates) {
    if (candidates.isEmpty()) {
      return null;
    }
    boolean sampling = parts.config().prefill().sampling();
    int index = sampling ? ThreadLocalRandom.current().nextInt(candidates.size()) : 0;
    String chosen = candidates.get(index);
    return chosen.isEmpty() ? null : chosen;
  }

  private @Nullable String kvSource(@Nullable String named) {
    boolean usable =
        named != null
            && connector.pulls()
            && named.indexOf(':') >= 0
            && Target.parse(named) != null
            && parts.allowList().allows(named);
    return usable ? named : null;
  }

  private List<Target> encoders(List<String> named, RequestTrace trace) {
    if (named.isEmpty() || !routes.encodes()) {
      return List.of();
    }
    List<Target> allowed =
        named.stream()
            .filter(entry -> !entry.isEmpty() && parts.allowList().allows(entry))
            .map(Target::parse)
            .filter(Objects::nonNull)
            .toList();
    trace.encoders(named.size(), allowed.size());
    return allowed;
  }

  private void deny(LiveRequest live, String target) {
    live.trace().denied(target);
    parts.metrics().denied();
    live.failed();
    Errors.text(live.exchange(), HttpResponseStatus.FORBIDDEN, DENIED);
    live.answered(HttpResponseStatus.FORBIDDEN.code());
  }

  private static void refuseTunnel(LiveRequest live) {
    live.failed();
    live.trace().fail("method_not_allowed", "tunnels are not served");
    Errors.empty(live.exchange(), HttpResponseStatus.METHOD_NOT_ALLOWED);
    live.answered(HttpResponseStatus.METHOD_NOT_ALLOWED.code());
  }

  private static void refuse(LiveRequest live, String why) {
    live.failed();
    live.trace().notDisaggregated("bad_routing_header");
    live.trace().fail("bad_routing_header", why);
    Errors.badGateway(live.exchange(), why);
    live.answered(HttpResponseStatus.BAD_GATEWAY.code());
  }
}
