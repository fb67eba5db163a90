package io.inferspan.kvcache;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.kvcache.FakeIndex.Manner;
import io.inferspan.kvcache.block.BlockExtras;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.KeyType;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.kvcache.metrics.KvCacheMeters;
import io.inferspan.testing.Canary;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contents of a prompt never appear in spans, metrics or logs. */
class CanaryTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final PodEntry POD = PodEntry.of("10.0.0.1:8000", "gpu");

  private final Canary canary = Canary.random();
  private final OtlpReceiver receiver = OtlpReceiver.start();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final CapturedLog logs = CapturedLog.ofEverything();
  private final FakeIndex index = new FakeIndex();

  /** Numbers of nine digits, of which none turns up by chance. */
  private final int[] tokens = new Random().ints(40, 100_000_000, 1_000_000_000).toArray();

  @AfterEach
  void close() {
    logs.close();
    receiver.close();
  }

  @ParameterizedTest
  @EnumSource(SpanNaming.class)
  void prompts_leakNowhere(SpanNaming naming) {
    try (Telemetry telemetry = telemetry(naming)) {
      KvCacheTracing tracing = KvCacheTracing.create(telemetry);
      BlockIndex metered = KvCacheMeters.in(registry).metered(index, "fake");
      KvCacheIndexer indexer =
          KvCacheIndexer.over(metered)
              .tracing(tracing)
              .lookupTimeout(Duration.ofMillis(20))
              .build();
      for (Manner manner : Manner.values()) {
        index.behave(manner).saying(canary.marker() + " " + tokens[0]);
        canary.planted().forEach(planted -> ask(indexer, planted));
        write(tracing.traced(metered));
      }
      telemetry.flush(SOON);
    }
    assertThat(receiver.spans()).as("spans were seen").hasSizeGreaterThan(100);

    List<byte[]> places = new ArrayList<>(receiver.rawBodies());
    places.add(registry.getMetersAsString().getBytes(UTF_8));
    places.add(logs.messages().toString().getBytes(UTF_8));
    canary.assertAbsentFrom(places);
    assertThat(places.stream().map(place -> new String(place, UTF_8)))
        .noneMatch(this::tellsOfTokens);
  }

  @Test
  void aLeakedSpan_isDetected() {
    try (Telemetry telemetry = telemetry(SpanNaming.CURRENT)) {
      KvCacheIndexer indexer =
          KvCacheIndexer.over(index).tracing(KvCacheTracing.create(telemetry)).build();
      indexer.podScores(
          tokens, canary.marker() + " " + tokens[3], Set.of(canary.marker()), Context.root());
      telemetry.flush(SOON);
    }
    assertThatThrownBy(() -> canary.assertAbsentFrom(receiver.rawBodies()))
        .isInstanceOf(AssertionError.class);
    assertThat(receiver.rawBodies().stream().map(place -> new String(place, UTF_8)))
        .anyMatch(this::tellsOfTokens);
  }

  private Telemetry telemetry(SpanNaming naming) {
    return Telemetry.initTracing(
        TelemetryOptions.builder()
            .serviceName("canary")
            .spanNaming(naming)
            .setting("otel.traces.sampler", "always_on")
            .setting("otel.bsp.schedule.delay", "20")
            .setting("otel.exporter.otlp.endpoint", receiver.endpoint())
            .build());
  }

  private void ask(KvCacheIndexer indexer, String planted) {
    BlockExtras extras =
        BlockExtras.ofBlocks(List.of(List.of(planted), List.of())).withCacheSalt(planted);
    Prompt prompt = Prompt.of("m", tokens).withLora(planted).withExtras(extras);
    long[] keys = BlockKeys.withDefaults().of(planted, tokens, extras);
    index.put(keys[0], POD);
    indexer.podScores(prompt, Set.of(), Context.root()).toCompletableFuture().join();
    BlockExtras wrong = BlockExtras.ofBlocks(List.of(List.of(planted)));
    indexer.podScores(prompt.withExtras(wrong), Set.of(), Context.root());
  }

  private void write(BlockIndex traced) {
    long[] keys = Arrays.stream(tokens).asLongStream().toArray();
    try {
      traced.add(keys, keys, List.of(POD), Context.root());
      traced.evict(tokens[0], KeyType.ENGINE, List.of(POD), Context.root());
    } catch (IllegalStateException e) {
      // Expected.
    }
  }

  private boolean tellsOfTokens(String place) {
    return Arrays.stream(tokens).anyMatch(token -> place.contains(Integer.toString(token)));
  }
}
