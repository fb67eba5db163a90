package io.inferspan.pd.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** How the names of MoRI-IO's pods are looked up; the names of the counters are llm-d's. */
public final class NameMeters {
  private final Counter lookedUp;
  private final Counter changed;
  private final Counter failed;

  NameMeters(MeterRegistry registry) {
    lookedUp = counter(registry, "moriio_dns_reresolve", "Names of pods looked up");
    changed = counter(registry, "moriio_dns_ip_changed", "Pods found at another address");
    failed = counter(registry, "moriio_dns_lookup_failures", "Names of pods not found");
  }

  private static Counter counter(MeterRegistry registry, String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  /** A name has an address. */
  public void lookedUp() {
    lookedUp.increment();
  }

  /** It is another than before. */
  public void changed() {
    changed.increment();
  }

  /** A name could not be looked up. */
  public void failed() {
    failed.increment();
  }
}
