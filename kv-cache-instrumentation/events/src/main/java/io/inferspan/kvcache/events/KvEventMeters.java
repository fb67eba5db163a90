package io.inferspan.kvcache.events;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The meters of one subscriber, which show whether the index is reliable. */
public final class KvEventMeters {

  private static final String PREFIX = "inferspan.kvcache.events.";

  private final MeterRegistry registry;
  private final KvEventCounts counts;

  private KvEventMeters(MeterRegistry registry, KvEventSubscriber subscriber) {
    this.registry = registry;
    this.counts = subscriber.counts();
    Gauge.builder(PREFIX + "queue.size", subscriber, KvEventSubscriber::queued)
        .description("Batches that wait for a worker")
        .register(registry);
    Gauge.builder(PREFIX + "sources.waiting", subscriber, KvEventSubscriber::waiting)
        .description("Publishers that are not followed yet, for want of an address or a socket")
        .register(registry);
    Gauge.builder(PREFIX + "lag", counts, KvEventCounts::lagSeconds)
        .description("How old the newest batch was when it entered the index")
        .baseUnit("seconds")
        .register(registry);
  }

  /**
   * Registers the meters of a subscriber; all names begin with {@code inferspan.kvcache.events}.
   */
  public static void register(MeterRegistry registry, KvEventSubscriber subscriber) {
    new KvEventMeters(registry, subscriber).register();
  }

  private void register() {
    applied();
    lost();
    repaired();
    for (SkipReason reason : SkipReason.values()) {
      count("skipped", "Events that changed nothing", all -> all.skipped(reason))
          .tags(Tags.of("reason", reason.name().toLowerCase(Locale.ROOT)))
          .register(registry);
    }
  }

  private void applied() {
    String batches = "Batches that entered the index";
    count("batches", batches, KvEventCounts::batches).tag("how", "live").register(registry);
    count("batches", batches, KvEventCounts::replayedBatches)
        .tag("how", "replayed")
        .register(registry);
    String applied = "Events that entered the index";
    count("applied", applied, KvEventCounts::storedEvents).tag("type", "stored").register(registry);
    count("applied", applied, KvEventCounts::removedEvents)
        .tag("type", "removed")
        .register(registry);
    count("applied", applied, KvEventCounts::clearedEvents)
        .tag("type", "cleared")
        .register(registry);
    String blocks = "Blocks that engines reported";
    count("blocks", blocks, KvEventCounts::storedBlocks).tag("type", "stored").register(registry);
    count("blocks", blocks, KvEventCounts::removedBlocks).tag("type", "removed").register(registry);
  }

  private void lost() {
    count("bad.frames", "Messages that were not read", KvEventCounts::badFrames).register(registry);
    count("gaps", "Times that batches were missing", KvEventCounts::gaps).register(registry);
    count("missed", "Batches that were missing", KvEventCounts::missedBatches).register(registry);
    count("dropped", "Batches that found no room", KvEventCounts::droppedBatches)
        .register(registry);
    count("faults", "Faults of our own that cost a batch", KvEventCounts::faults)
        .register(registry);
  }

  private void repaired() {
    String replays = "Replays of missing batches";
    count("replays", replays, KvEventCounts::replays).tag("result", "ok").register(registry);
    count("replays", replays, KvEventCounts::failedReplays)
        .tag("result", "failed")
        .register(registry);
    count("restarts", "Publishers that began anew", KvEventCounts::restarts).register(registry);
    count("invalidations", "Pods taken from the index", KvEventCounts::invalidations)
        .register(registry);
    count("write.failures", "Writes that the index did not take", KvEventCounts::failedWrites)
        .register(registry);
    count("rewrites", "Pods written to the index anew", KvEventCounts::rewrites).register(registry);
  }

  private FunctionCounter.Builder<KvEventCounts> count(
      String name, String description, ToDoubleFunction<KvEventCounts> count) {
    return FunctionCounter.builder(PREFIX + name, counts, count).description(description);
  }
}
