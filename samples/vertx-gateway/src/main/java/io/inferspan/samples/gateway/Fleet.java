package io.inferspan.samples.gateway;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.filter.RoleFilter;
import io.inferspan.samples.gateway.config.Address;
import io.inferspan.samples.gateway.config.GatewayConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The engines, with the number of open requests to each. */
final class Fleet {

  private static final String NAMESPACE = "static";

  private final List<Engine> engines;
  private final Map<String, Engine> byId = new LinkedHashMap<>();

  private record Engine(Endpoint endpoint, boolean decodes, AtomicInteger active) {
    Endpoint now() {
      int requests = active.get();
      return requests == 0
          ? endpoint
          : endpoint.withMetrics(new Endpoint.Metrics(0, 0, 0, requests, 0));
    }
  }

  Fleet(GatewayConfig config) {
    config.decode().forEach(address -> add(address, "decode", true));
    config.prefill().forEach(address -> add(address, "prefill", false));
    engines = List.copyOf(byId.values());
  }

  private void add(Address address, String role, boolean decodes) {
    String name = role + '-' + address.host() + '-' + address.port();
    Endpoint endpoint =
        Endpoint.of(NAMESPACE, name, address.host(), address.port())
            .withLabels(Map.of(RoleFilter.LABEL, role));
    byId.putIfAbsent(endpoint.id(), new Engine(endpoint, decodes, new AtomicInteger()));
  }

  /** Returns all engines, with their open requests. */
  List<Endpoint> endpoints() {
    List<Endpoint> now = new ArrayList<>(engines.size());
    for (Engine engine : engines) {
      now.add(engine.now());
    }
    return now;
  }

  /** Returns the decode engine with the fewest requests, for requests other than inference. */
  Endpoint leastBusy() {
    Engine least = engines.get(0);
    for (Engine engine : engines) {
      if (engine.decodes && engine.active.get() < least.active.get()) {
        least = engine;
      }
    }
    return least.endpoint;
  }

  /** Called when a request is sent to an engine. */
  void begin(@Nullable Endpoint endpoint) {
    count(endpoint, 1);
  }

  /** Called when the engine has answered or failed. */
  void end(@Nullable Endpoint endpoint) {
    count(endpoint, -1);
  }

  private void count(@Nullable Endpoint endpoint, int change) {
    Engine engine = endpoint == null ? null : byId.get(endpoint.id());
    if (engine != null) {
      engine.active.addAndGet(change);
    }
  }
}
