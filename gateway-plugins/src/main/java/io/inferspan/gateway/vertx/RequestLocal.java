package io.inferspan.gateway.vertx;

import io.inferspan.gateway.GatewayRequest;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.spi.context.storage.AccessMode;
import io.vertx.core.spi.context.storage.ContextLocal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Where a Vert.x context keeps its request.
 *
 * <p>Vert.x loads it before it makes its first context, and by that each context has a place of its
 * own for it, which costs no map per request. A Vert.x that could not see this class keeps requests
 * in the map that all share; so does one on the module path, where our module does not provide it,
 * as it could not be resolved without Vert.x then.
 */
public final class RequestLocal implements VertxServiceProvider {

  private static final ContextLocal<GatewayRequest> PLACE =
      ContextLocal.registerLocal(GatewayRequest.class);

  /** For Vert.x, which finds it as a service. */
  public RequestLocal() {}

  @Override
  public void init(VertxBootstrap builder) {
    // To be loaded is all: the place is taken when the class is.
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
