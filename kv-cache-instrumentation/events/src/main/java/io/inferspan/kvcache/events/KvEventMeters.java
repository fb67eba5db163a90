package io.inferspan.kvcache.events;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;

/** The meters of one subscriber, which show whether the index is reliable. */
public final class KvEventMeters {

  private static final String PREFIX = "inferspan.kvcache.events.";

  private KvEventMeters() {}

  /**
   * Registers the meters of a subscriber; all names begin with {@code inferspan.kvcache.events}.
   */
  public static void register(MeterRegistry registry, KvEventSubscriber subscriber) {
    KvEventCounts counts = subscriber.counts();
    Gauge.builder(PREFIX + "queue.size", subscriber, KvEventSubscriber::queued)
        .description("Batches that wait for a worker")
        .register(registry);
    Gauge.builder(PREFIX + "sources.waiting", subscriber, KvEventSubscriber::waiting)
        .description("Publishers not subscribed yet: an address or a socket is missing")
        .register(registry);
    Gauge.builder(PREFIX + "lag", counts, KvEventCounts::lagSeconds)
        .description("Age of the newest batch when it entered the index")
        .baseUnit("seconds")
        .register(registry);
    for (KvEventCount count : KvEventCount.values()) {
      FunctionCounter.builder(PREFIX + count.meter, counts, all -> all.get(count))
          .description(count.description)
          .tags(count.tag)
          .register(registry);
    }
    for (SkipReason reason : SkipReason.values()) {
      FunctionCounter.builder(PREFIX + "skipped", counts, all -> all.skipped(reason))
          .description("Events that were not applied, or only to some of their blocks")
          .tags("reason", reason.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
  }
}
