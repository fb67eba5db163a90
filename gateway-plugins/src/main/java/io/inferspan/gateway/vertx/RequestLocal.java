package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRequest;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.spi.context.storage.AccessMode;
import io.vertx.core.spi.context.storage.ContextLocal;
import io.vertx.core.spi.tracing.VertxTracer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Stores a request in its Vert.x context.
 *
 * <p>Vert.x loads this service before it creates its first context, so that each context has a
 * field for the request. If Vert.x does not find the service, requests are stored in the context's
 * map of local data. On the module path, Vert.x never finds the service: Inferspan's module does
 * not declare it, because the module would then require Vert.x.
 */
public final class RequestLocal implements VertxServiceProvider {

  private static final ContextLocal<GatewayRequest> FIELD =
      ContextLocal.registerLocal(GatewayRequest.class);

  /** Called by Vert.x, which loads this class as a service. */
  public RequestLocal() {}

  /** Installs {@link ResponseEnds} unless a tracer is configured. */
  @Override
  public void init(VertxBootstrap builder) {
    if (builder.options().getTracingOptions() == null) {
      VertxGateway.beforeTracer(options -> VertxTracer.NOOP).init(builder);
    }
  }

  static @Nullable GatewayRequest of(ContextInternal context) {
    try {
      return context.getLocal(FIELD, AccessMode.CONCURRENT);
    } catch (IllegalArgumentException notRegistered) {
      Map<Object, Object> shared = context.getLocal(ContextInternal.LOCAL_MAP);
      return shared == null ? null : (GatewayRequest) shared.get(GatewayRequest.class);
    }
  }

  static void keep(ContextInternal context, GatewayRequest request) {
    try {
      context.putLocal(FIELD, AccessMode.CONCURRENT, request);
    } catch (IllegalArgumentException notRegistered) {
      context
          .getLocal(ContextInternal.LOCAL_MAP, ConcurrentHashMap::new)
          .put(GatewayRequest.class, request);
    }
  }
}
