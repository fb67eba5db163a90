package io.inferspan.pd.telemetry;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counters for resolving the names of MoRI-IO's pods; their names are llm-d's.
 *
 * @param lookedUp names that have an address
 * @param changed names whose address has changed
 * @param failed names that could not be resolved
 */
public record NameMeters(Counter lookedUp, Counter changed, Counter failed) {
  static NameMeters in(MeterRegistry registry) {
    return new NameMeters(
        counter(registry, "moriio_dns_reresolve", "Names of pods looked up"),
        counter(registry, "moriio_dns_ip_changed", "Pods found at another address"),
        counter(registry, "moriio_dns_lookup_failures", "Names of pods not found"));
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }
}
