package io.inferspan.samples.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.plugins.disagg.ByteThresholdDecider;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.disagg.DisaggProfileHandler;
import io.inferspan.epp.plugins.disagg.PdProfileHandler;
import io.inferspan.epp.plugins.disagg.TokenThresholdDecider;
import io.inferspan.epp.plugins.filter.RoleFilter;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.LoadScorers;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.epp.plugins.score.PrefixHits;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import io.inferspan.kvcache.index.PodEntry;
import io.inferspan.samples.prefixrouting.PrefixRouting;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.FakeEngine;
import io.inferspan.testing.otlp.OtlpReceiver;
import io.opentelemetry.context.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The trace of one request with prefill on another pod: through the gateway, its endpoint picker
 * and KV-cache index, the P/D sidecar as a process, and two engines.
 *
 * <p>After an intended change, {@code -Dgolden.write=true} rewrites the golden files.
 */
class GoldenTreeIT {

  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String MODEL = "tiny";
  private static final int[] PROMPT = IntStream.range(0, 640).toArray();

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @ParameterizedTest
  @EnumSource
  void tree_isGolden(SpanNaming naming) throws Exception {
    String tree = NameTree.of(trace(naming));

    Path golden = GOLDEN.resolve(naming.setting() + ".txt");
    if (Boolean.getBoolean("golden.write")) {
      Files.createDirectories(GOLDEN);
      Files.writeString(golden, tree);
    }
    assertThat(tree).isEqualTo(Files.readString(golden));
  }

  /**
   * Compares the tree with the example in llm-d's tracing proposal. The example omits some of the
   * picker's spans, and its decisions before and after the one for prefill; this test omits only
   * these.
   */
  @Test
  void proposal_isTheProposalsExample() throws Exception {
    List<SpanRecord> spans = trace(SpanNaming.PROPOSAL);

    assertThat(NameTree.of(spans, GoldenTreeIT::isInTheExample))
        .isEqualTo(Files.readString(GOLDEN.resolve("example-of-the-proposal.txt")));
  }

  private static boolean isInTheExample(SpanRecord span) {
    String name = span.name();
    if (name.equals(EppSpans.PROFILE_HANDLER.name(SpanNaming.PROPOSAL))) {
      return "prefill_decode".equals(span.attribute(EppAttributes.DECISION.key().getKey()));
    }
    boolean scorer =
        name.startsWith(EppSpans.SCORER.name(SpanNaming.PROPOSAL))
            && !name.equals(EppSpans.SCORER_PREFIX_CACHE.name(SpanNaming.PROPOSAL));
    return !scorer
        && !List.of(EppSpans.PROFILE_RUN, EppSpans.FILTER, EppSpans.SCORING, EppSpans.PICKER)
            .stream()
            .map(type -> type.name(SpanNaming.PROPOSAL))
            .toList()
            .contains(name);
  }

  private List<SpanRecord> trace(SpanNaming naming) throws IOException, InterruptedException {
    try (OtlpReceiver collector = OtlpReceiver.start();
        FakeEngine prefiller = FakeEngine.builder().openTelemetry(tracing.openTelemetry()).start();
        FakeEngine decoder = FakeEngine.builder().openTelemetry(tracing.openTelemetry()).start();
        SidecarProcess sidecar =
            new SidecarProcess(decoder.port(), collector.endpoint(), naming.setting());
        MemoryBlockIndex index = MemoryBlockIndex.withDefaults()) {
      Telemetry telemetry =
          Telemetry.using(
              tracing.openTelemetry(), TelemetryOptions.builder().spanNaming(naming).build());
      String decode = "127.0.0.1:" + sidecar.port();
      BlockKeys keys = BlockKeys.withDefaults();
      long[] held = keys.of(MODEL, IntStream.range(0, 192).toArray());
      index.add(new long[0], held, List.of(PodEntry.of(decode, "gpu")), Context.root());
      try (RunningGateway gateway =
          RunningGateway.start(
              builder ->
                  builder
                      .telemetry(telemetry)
                      .tokenizer((model, input) -> PROMPT)
                      .scheduler(scheduler(PrefixRouting.hits(index, keys, telemetry), telemetry)),
              "--decode=" + decode,
              "--prefill=" + prefiller.authority())) {
        assertThat(gateway.chat(body()).statusCode()).isEqualTo(200);
      }
      List<SpanRecord> spans = new ArrayList<>(tracing.spans());
      // The picker's startup is a separate trace.
      spans.removeIf(span -> span.name().equals(EppSpans.STARTUP.name(naming)));
      spans.addAll(collector.awaitSpans(naming == SpanNaming.PROPOSAL ? 3 : 6, SOON));
      assertThat(prefiller.requestCount()).isEqualTo(1);
      return spans;
    }
  }

  private static String body() {
    return "{\"model\":\"%s\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
        .formatted(MODEL, "word ".repeat(640));
  }

  private static Scheduler scheduler(PrefixHits hits, Telemetry telemetry) {
    ProfileHandler handler =
        telemetry.spanNaming() == SpanNaming.PROPOSAL
            ? new PdProfileHandler(new ByteThresholdDecider(1024))
            : DisaggProfileHandler.builder().prefillDecider(new TokenThresholdDecider(256)).build();
    return Scheduler.builder(handler)
        .profile(
            SchedulerProfile.named("decode")
                .filter(RoleFilter.decode())
                .scorer(new PrecisePrefixCacheScorer(hits), 3)
                .scorer(LoadScorers.activeRequests(), 2)
                .picker(new MaxScorePicker()))
        .profile(
            SchedulerProfile.named("prefill")
                .filter(RoleFilter.prefill())
                .scorer(LoadScorers.activeRequests())
                .picker(new MaxScorePicker()))
        .preRequest(new DisaggHeaders())
        .tracing(EppTracing.create(telemetry))
        .build();
  }
}
