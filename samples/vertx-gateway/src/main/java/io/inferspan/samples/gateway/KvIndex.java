package io.inferspan.samples.gateway;

import io.inferspan.Telemetry;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.score.PrefixHits;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.events.EventSource;
import io.inferspan.kvcache.events.KvEventOptions;
import io.inferspan.kvcache.events.KvEventSubscriber;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.samples.gateway.config.Address;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.inferspan.samples.prefixrouting.PrefixRouting;
import io.opentelemetry.api.OpenTelemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An in-memory index of the engines' KV caches, updated by their events. */
final class KvIndex implements AutoCloseable {

  /** Short, because events that a restarted engine publishes before the reconnect are lost. */
  private static final Duration RECONNECT = Duration.ofMillis(100);

  private final MemoryBlockIndex blocks;
  private final KvEventSubscriber subscriber;
  private final PrefixHits hits;

  private KvIndex(MemoryBlockIndex blocks, KvEventSubscriber subscriber, PrefixHits hits) {
    this.blocks = blocks;
    this.subscriber = subscriber;
    this.hits = hits;
  }

  /** Creates an index and subscribes to the KV events of the engines. */
  static KvIndex follow(GatewayConfig config, @Nullable Telemetry telemetry) {
    MemoryBlockIndex blocks = MemoryBlockIndex.withDefaults();
    BlockKeys keys = BlockKeys.withDefaults();
    KvEventSubscriber subscriber =
        KvEventSubscriber.start(
            blocks, keys, KvEventOptions.builder().workers(1).reconnect(RECONNECT).build());
    sources(config).forEach(subscriber::sourceAdded);
    Telemetry tracing = telemetry == null ? Telemetry.using(OpenTelemetry.noop()) : telemetry;
    return new KvIndex(blocks, subscriber, PrefixRouting.hits(blocks, keys, tracing));
  }

  /** Returns the engines' event sources, named by the addresses that the scheduler looks up. */
  private static List<EventSource> sources(GatewayConfig config) {
    List<Address> engines = new ArrayList<>(config.decode());
    engines.addAll(config.prefill());
    List<EventSource> sources = new ArrayList<>();
    for (int i = 0; i < engines.size(); i++) {
      Address publisher = config.kvEvents().get(i);
      sources.add(
          new EventSource(authority(engines.get(i)), "tcp://" + authority(publisher), null));
    }
    return sources;
  }

  private static String authority(Address address) {
    return Endpoint.of("static", "engine", address.host(), address.port()).authority();
  }

  PrefixHits hits() {
    return hits;
  }

  @Override
  public void close() {
    subscriber.close();
    blocks.close();
  }
}
