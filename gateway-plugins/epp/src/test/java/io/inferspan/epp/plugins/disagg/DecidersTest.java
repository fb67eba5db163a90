package io.inferspan.epp.plugins.disagg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.PrefixMatches;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DecidersTest {

  private static final Endpoint DECODE = Fleet.pod(0);

  /** A request of so many tokens, of four bytes each, of whose blocks of 16 the pod has some. */
  private static Cycle cycle(int tokens, int cachedBlocks) {
    Cycle cycle =
        Fleet.cycle(
            InferenceRequest.to("m")
                .tokens(Fleet.tokens(0, tokens))
                .inputBytes(tokens * 4L)
                .build());
    cycle.leave(PrefixMatches.class, new PrefixMatches(16, tokens, Map.of("ns/a", cachedBlocks)));
    return cycle;
  }

  @Test
  void bytes_thatNoCacheHolds_decide() {
    assertThat(new ByteThresholdDecider(1024).decide(cycle(400, 5), DECODE))
        .isEqualTo(
            new PdReasoning(true, "non_cached_bytes_reach_threshold", 1024, 1600, 5, 0.2, 1280));
  }

  @Test
  void bytes_atTheThreshold_reachIt() {
    assertThat(new ByteThresholdDecider(1024).decide(cycle(256, 0), DECODE).disaggregate())
        .isTrue();
    assertThat(new ByteThresholdDecider(1025).decide(cycle(256, 0), DECODE))
        .isEqualTo(new PdReasoning(false, "input_below_threshold", 1025, 1024, 0, 0, 1024));
  }

  @Test
  void bytes_mostlyCached_stay() {
    assertThat(new ByteThresholdDecider(1024).decide(cycle(320, 16), DECODE))
        .isEqualTo(new PdReasoning(false, "mostly_cached", 1024, 1280, 16, 0.8, 256));
  }

  @Test
  void bytes_withoutPrefixInfo_countAsNotCached() {
    Cycle cycle = Fleet.cycle(InferenceRequest.to("m").inputBytes(5000).build());
    assertThat(new ByteThresholdDecider(1024).decide(cycle, DECODE).nonCachedBytes())
        .isEqualTo(5000);
    assertThat(new ByteThresholdDecider(1024).decide(cycle, null).disaggregate()).isTrue();
  }

  @Test
  void bytes_ofAnInputOfUnknownSize_doNotDisaggregate() {
    PdReasoning reasoning = new ByteThresholdDecider(1024).decide(Fleet.cycle(), DECODE);
    assertThat(reasoning.disaggregate()).isFalse();
    assertThat(reasoning.reason()).isEqualTo("input_size_unknown");
  }

  @Test
  void tokens_ofAThresholdOfZero_neverDisaggregate() {
    assertThat(new TokenThresholdDecider(0).decide(cycle(100_000, 0), DECODE))
        .isEqualTo(PdReasoning.of(false, "disabled"));
  }

  @Test
  void tokens_belowEitherBound_stay() {
    assertThat(new TokenThresholdDecider(10, 100).decide(cycle(99, 0), DECODE).reason())
        .isEqualTo("input_below_prompt_tokens");
    assertThat(new TokenThresholdDecider(100).decide(cycle(99, 0), DECODE).reason())
        .isEqualTo("input_below_non_cached_tokens");
  }

  @Test
  void tokens_withoutPrefixInfoOfTheDecodePod_stay() {
    TokenThresholdDecider decider = new TokenThresholdDecider(10);
    Cycle unknown = Fleet.cycle(InferenceRequest.to("m").tokens(Fleet.tokens(0, 100)).build());
    for (PdReasoning reasoning :
        List.of(
            decider.decide(unknown, DECODE),
            decider.decide(cycle(100, 0), Fleet.pod(1)),
            decider.decide(cycle(100, 0), null))) {
      assertThat(reasoning).isEqualTo(PdReasoning.of(false, "no_prefix_info"));
    }
  }

  @Test
  void tokens_thatNoCacheHolds_decide() {
    TokenThresholdDecider decider = new TokenThresholdDecider(64);
    assertThat(decider.decide(cycle(160, 6), DECODE))
        .isEqualTo(new PdReasoning(true, "non_cached_tokens_reach_threshold", -1, 640, 6, 0.6, -1));
    assertThat(decider.decide(cycle(160, 7), DECODE).reason()).isEqualTo("mostly_cached");
  }

  @Test
  void tokens_notCounted_areReckonedAtFourBytes() {
    Cycle cycle = Fleet.cycle(InferenceRequest.to("m").inputBytes(400).build());
    cycle.leave(PrefixMatches.class, new PrefixMatches(16, 100, Map.of("ns/a", 0)));
    assertThat(new TokenThresholdDecider(100).decide(cycle, DECODE).disaggregate()).isTrue();
    assertThat(new TokenThresholdDecider(101).decide(cycle, DECODE).disaggregate()).isFalse();
    assertThat(new TokenThresholdDecider(1).decide(Fleet.cycle(), DECODE).reason())
        .isEqualTo("input_size_unknown");
  }

  @Test
  void mediaAlone_decideForEncoding() {
    Cycle media = Fleet.cycle(InferenceRequest.to("m").media(List.of("image"), 1).build());
    assertThat(Decider.multimodal().decide(media, null).disaggregate()).isTrue();
    assertThat(Decider.multimodal().decide(Fleet.cycle(), null).disaggregate()).isFalse();
    assertThat(Decider.always().decide(Fleet.cycle(), null).disaggregate()).isTrue();
  }

  @Test
  void negativeThresholds_areRefused() {
    assertThatThrownBy(() -> new ByteThresholdDecider(-1))
        .hasMessage("the P/D threshold is -1 bytes, but must be 0 or more");
    assertThatThrownBy(() -> new TokenThresholdDecider(-1))
        .hasMessageContaining("are -1 and 0, but must be");
    assertThatThrownBy(() -> new TokenThresholdDecider(1, -2)).hasMessageContaining("and -2");
  }
}
