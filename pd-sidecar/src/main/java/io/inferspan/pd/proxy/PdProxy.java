package io.inferspan.pd.proxy;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.config.SidecarConfig;
import io.inferspan.pd.connector.Connector;
import io.inferspan.pd.connector.EncodeStage;
import io.inferspan.pd.request.Decision;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.ProxyParts;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.telemetry.Api;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.telemetry.RequestTrace;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.ForwardedHeaders;
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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Decides how each request is served. */
public final class PdProxy {
  private static final String DENIED = "Forbidden: prefill target not allowed by SSRF protection";

  private static final String UNREADABLE = "not host:port";
  private static final String CHAT_COMPLETIONS = "/v1/chat/completions";

  private final ProxyParts parts;
  private final Connector connector;
  private final boolean mergesTransferParams;
  private final int chunkSize;

  public PdProxy(ProxyParts parts, Connector connector) {
    this.parts = parts;
    this.connector = connector;
    SidecarConfig config = parts.config();
    this.mergesTransferParams = config.get(Settings.EC_CONNECTOR).equals("ec-nixl");
    this.chunkSize = config.get(Settings.DECODE_CHUNK_SIZE);
  }

  /** Handles a request's head; its body goes to the listener that is set for it. */
  public void handle(ClientExchange exchange) {
    HttpRequest request = exchange.request();
    HttpMethod method = request.method();
    request.setUri(Routes.encoded(Routes.originForm(request.uri())));
    // A tunnel request has a destination instead of a path.
    String path = method.equals(HttpMethod.CONNECT) ? "" : Routes.path(request.uri());
    if (Routes.isHealth(method, path)) {
      exchange.respond(HttpResponseStatus.OK, new DefaultHttpHeaders(), Unpooled.EMPTY_BUFFER);
      return;
    }
    Api api = Routes.api(method, path);
    HttpHeaders headers = request.headers();
    // Before hop-by-hop headers are removed, so that a client cannot remove the endpoint picker's
    // routing headers with a Connection header.
    RoutingHeaders routing =
        api == Api.PASSTHROUGH ? RoutingHeaders.NONE : RoutingHeaders.takeFrom(headers);
    ForwardedHeaders.fromClient(request, exchange.clientAddress());
    RequestTrace trace =
        Routes.isUntraced(method, path)
            ? PdTracing.none()
            : parts.tracing().begin(headers, method.name(), Routes.template(path), api);
    PdRequest live = PdRequest.begin(exchange, parts, api, trace);
    live.guard(() -> dispatch(live, routing));
  }

  private void dispatch(PdRequest request, RoutingHeaders routing) {
    if (request.exchange().request().method().equals(HttpMethod.CONNECT)) {
      request.refuse(
          EngineAnswer.empty(HttpResponseStatus.METHOD_NOT_ALLOWED),
          "method_not_allowed",
          "CONNECT is not supported");
    } else if (request.api() == Api.PASSTHROUGH) {
      request.pass(request.ownDecoder());
    } else {
      intercept(request, routing);
    }
  }

  private void intercept(PdRequest request, RoutingHeaders routing) {
    RequestTrace trace = request.trace();
    String chosen = choose(routing.prefillers());
    Target prefiller = chosen == null ? null : Target.parse(chosen);
    if (chosen == null) {
      trace.notDisaggregated("no_prefill_header");
    } else if (!parts.allowList().allows(chosen)) {
      trace.denied(prefiller == null ? UNREADABLE : prefiller.authority());
      parts.metrics().denied();
      request.failed();
      request.deliver(EngineAnswer.text(HttpResponseStatus.FORBIDDEN, DENIED));
      return;
    } else if (prefiller == null) {
      String why = "the header x-prefiller-host-port must contain host:port";
      trace.notDisaggregated("bad_routing_header");
      request.refuse(EngineAnswer.badGateway(why), "bad_routing_header", why);
      return;
    } else {
      trace.disaggregated(prefiller.authority(), routing.prefillers().size());
    }
    String source = kvSource(routing.kvSource());
    trace.set(PdAttributes.KV_CACHE_SOURCE, source);
    List<Target> encoders = encoders(routing.encoders(), trace);
    String rank = routing.dataParallel();
    Target decoder = rank == null ? request.ownDecoder() : parts.decoderAt(rank);
    request.decided(new Decision(prefiller, encoders, source, decoder, rank != null));
    serve(request);
  }

  private @Nullable String choose(List<String> candidates) {
    if (candidates.isEmpty()) {
      return null;
    }
    boolean sampling = parts.config().get(Settings.ENABLE_PREFILLER_SAMPLING);
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
    if (named.isEmpty() || parts.config().get(Settings.EC_CONNECTOR).isEmpty()) {
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

  /** Serves a request whose body is inspected, in llm-d's order: encode, P/D, decode only. */
  private void serve(PdRequest request) {
    if (!request.decision().encoders().isEmpty()) {
      withBody(request, _ -> EncodeStage.run(request, mergesTransferParams, this::serveGathered));
    } else if (request.decision().prefiller() != null) {
      withBody(request, this::serveGathered);
    } else {
      decodeOnly(request);
    }
  }

  private void serveGathered(PdRequest request) {
    String source = request.decision().kvSource();
    Target decoder = request.decision().decoder();
    if (request.decision().prefiller() != null) {
      request.metrics().disaggregated(connector.name(), request.trace().spanContext());
      connector.serve(request);
    } else if (decoder == null) {
      request.refuseRank();
    } else if (source != null) {
      connector.decodeWithPull(request, source);
    } else {
      request.stream(DecodeLeg.of(request.body().original()).on(decoder));
    }
  }

  private void decodeOnly(PdRequest request) {
    Target decoder = request.decision().decoder();
    if (decoder == null) {
      request.refuseRank();
    } else if (request.decision().kvSource() != null || chunks(request)) {
      withBody(request, this::serveGathered);
    } else {
      request.pass(decoder);
    }
  }

  /**
   * Returns whether to decode in chunks. A connector that does not support this would run both
   * stages for every chunk.
   */
  private boolean chunks(PdRequest request) {
    return chunkSize > 0
        && Routes.path(request.exchange().request().uri()).equals(CHAT_COMPLETIONS)
        && (request.decision().prefiller() == null || connector.decodesInChunks());
  }

  /** Collects and scans the body, and continues with it. */
  private void withBody(PdRequest request, Consumer<PdRequest> next) {
    request.collect(
        () -> {
          if (chunks(request)) {
            request.decodedBy(leg -> ChunkLoop.decode(request, leg, chunkSize));
          }
          next.accept(request);
        });
  }
}
