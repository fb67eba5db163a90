package io.inferspan.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ValuesTest {

  @Test
  void authority_bracketsIpv6() {
    assertThat(Endpoint.of("ns", "p", "fd00::1", 8000).authority()).isEqualTo("[fd00::1]:8000");
    assertThat(Endpoint.of("ns", "p", "10.0.0.1", 8000).authority()).isEqualTo("10.0.0.1:8000");
  }

  @Test
  void endpoint_keepsItsPlaceUnderOtherLoad() {
    Endpoint busy = Fleet.pod(0, "decode").withMetrics(new Endpoint.Metrics(1, 2, 0.5, 3, 4));

    assertThat(busy.id()).isEqualTo("ns/a");
    assertThat(busy.authority()).isEqualTo("10.0.0.1:8000");
    assertThat(busy.labels()).containsEntry("llm-d.ai/role", "decode");
    assertThat(busy.metrics().runningRequests()).isEqualTo(2);
  }

  @Test
  void endpoint_refusesAPortThatIsNone() {
    assertThatThrownBy(() -> Endpoint.of("ns", "p", "h", 0))
        .hasMessage("the port of endpoint ns/p is 0, but must be 1 to 65535");
  }

  @Test
  void request_findsHeadersInAnyCase_andShowsNoneOfThem() {
    InferenceRequest request =
        InferenceRequest.to("m").id("r").headers(Map.of("Authorization", "secret")).build();

    assertThat(request.header("authorization")).isEqualTo("secret");
    assertThat(request.header("cookie")).isNull();
    assertThat(request).hasToString("request r to m");
  }

  @Test
  void modality_isSortedAndNoneWithoutMedia() {
    InferenceRequest.Builder builder = InferenceRequest.to("m");
    assertThat(builder.build().modality()).isNull();
    assertThat(builder.media(List.of("video", "Image", "image"), 3).build().modality())
        .isEqualTo("image,video");
  }

  @Test
  void inputBytes_areKnownFromTheInputOrGiven() {
    assertThat(InferenceRequest.to("m").build().inputBytes()).isEqualTo(InferenceRequest.UNKNOWN);
    assertThat(InferenceRequest.to("m").input(new byte[7]).build().inputBytes()).isEqualTo(7);
  }

  @Test
  void scores_countOnlyThoseGiven() {
    Scores scores = Scores.of(3);
    scores.set(0, 0.5);
    scores.set(2, 0.25);

    assertThat(scores.scored()).isEqualTo(2);
    assertThat(scores.max()).isEqualTo(0.5);
    assertThat(scores.average()).isEqualTo(0.375);
    assertThat(scores.at(1)).isZero();
    assertThat(scores.isScored(1)).isFalse();
  }

  @Test
  void noScores_haveNoMaximum() {
    assertThat(Scores.of(2).max()).isZero();
    assertThat(Scores.of(0).average()).isZero();
  }

  @Test
  void addedScores_areKeptWithinBoundsAndWeighted() {
    Scores sum = Scores.of(4);
    Scores some = Scores.of(4);
    some.set(0, 7);
    some.set(1, -3);
    some.set(2, 0.5);
    sum.add(some, 2);
    sum.add(some, 2);

    assertThat(List.of(sum.at(0), sum.at(1), sum.at(2), sum.at(3)))
        .containsExactly(4.0, 0.0, 2.0, 0.0);
  }

  @Test
  void notes_areReplacedByType() {
    Cycle cycle = Fleet.cycle();
    assertThat(cycle.note(String.class)).isNull();
    cycle.leave(String.class, "first");
    cycle.leave(String.class, "second");
    assertThat(cycle.note(String.class)).isEqualTo("second");
  }

  @Test
  void headersOfAMap_areReplacedInAnyCase() {
    Map<String, String> map = new HashMap<>(Map.of("X-A", "client", "X-a", "client too"));
    PreRequest.Headers.of(map).set("x-a", "ours");
    assertThat(map).containsExactly(Map.entry("x-a", "ours"));
  }

  @Test
  void matches_areWholeBlocksAndAShare() {
    PrefixMatches matches = new PrefixMatches(16, 64, Map.of("ns/a", 3, "ns/b", 0));

    assertThat(matches.tokensAt(Fleet.pod(0))).isEqualTo(48);
    assertThat(matches.ratioAt(Fleet.pod(0))).isEqualTo(0.75);
    assertThat(matches.knows(Fleet.pod(1))).isTrue();
    assertThat(matches.knows(Fleet.pod(2))).isFalse();
    assertThat(matches.isCold()).isFalse();
    assertThat(new PrefixMatches(16, 0, Map.of("ns/a", 0)).isCold()).isTrue();
    assertThat(new PrefixMatches(16, 0, Map.of("ns/a", 1)).ratioAt(Fleet.pod(0))).isZero();
  }
}
