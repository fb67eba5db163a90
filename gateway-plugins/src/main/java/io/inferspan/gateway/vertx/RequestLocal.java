package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRequest;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.core.spi.context.storage.AccessMode;
import io.vertx.core.spi.context.storage.ContextLocal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Stores a request in its Vert.x context.
 *
 * <p>Vert.x loads it before it creates its first context, so each context has a field for it and
 * needs no map per request. If Vert.x cannot see this class, requests are stored in the shared map
 * of context-local data; the same applies on the module path, where our module does not provide the
 * service, since it could not be resolved without Vert.x then.
 */
public final class RequestLocal implements VertxServiceProvider {

  private static final ContextLocal<GatewayRequest> PLACE =
      ContextLocal.registerLocal(GatewayRequest.class);

  /** Called by Vert.x, which loads this class as a service. */
  public RequestLocal() {}

  /** Installs {@link ResponseEnds} unless the user has a tracer, or asks Vert.x for one. */
  @Override
  public void init(VertxBootstrap builder) {
    if (builder.options().getTracingOptions() == null) {
      VertxTracerFactory ends = options -> new ResponseEnds(null);
      ends.init(builder);
    }
  }

  static @Nullable GatewayRequest of(ContextInternal context) {
    try {
      return context.getLocal(PLACE, AccessMode.CONCURRENT);
    } catch (IllegalArgumentException noPlace) {
      Map<Object, Object> shared = context.getLocal(ContextInternal.LOCAL_MAP);
      return shared == null ? null : (GatewayRequest) shared.get(GatewayRequest.class);
    }
  }

  static void keep(ContextInternal context, GatewayRequest request) {
    try {
      context.putLocal(PLACE, AccessMode.CONCURRENT, request);
    } catch (IllegalArgumentException noPlace) {
      context
          .getLocal(ContextInternal.LOCAL_MAP, ConcurrentHashMap::new)
          .put(GatewayRequest.class, request);
    }
  }
}
