package io.inferspan.epp.plugins.score;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.PrefixMatches;
import io.inferspan.epp.SchedulingResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class AffinityScorersTest {

  private static Cycle with(String header, String value) {
    return Fleet.cycle(InferenceRequest.to("m").headers(Map.of(header, value)).build());
  }

  private static void send(PreRequest plugin, Cycle cycle, int pod) {
    plugin.prepare(SchedulingResult.to(cycle, List.of(Fleet.pod(pod))), Fleet.noHeaders());
  }

  @Test
  void theTokenOfAnAnswer_leadsBackToItsEndpoint() {
    String token = SessionAffinityScorer.token(Fleet.pod(1));
    assertThat(token).isEqualTo("bnMvYg==");
    assertThat(
            Fleet.scores(
                SessionAffinityScorer.byToken(), with("X-Session-Token", token), Fleet.pods(3)))
        .containsExactly(0, 1, 0);
  }

  @Test
  void aTokenThatIsNone_bindsToNothing() {
    SessionAffinityScorer scorer = SessionAffinityScorer.byToken();
    for (String token : List.of("", "not base64!", "bm93aGVyZQ==")) {
      assertThat(Fleet.scores(scorer, with("x-session-token", token), Fleet.pods(2)))
          .containsExactly(0, 0);
    }
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(1))).containsExactly(0);
  }

  @Test
  void aSessionId_isBoundToWhereItWentLast() {
    SessionAffinityScorer scorer = SessionAffinityScorer.bySessionId("x-session-id", 10);
    assertThat(Fleet.scores(scorer, with("x-session-id", "s"), Fleet.pods(2)))
        .containsExactly(0, 0);
    send(scorer, with("x-session-id", "s"), 0);
    send(scorer, with("x-session-id", "s"), 1);
    assertThat(Fleet.scores(scorer, with("x-session-id", "s"), Fleet.pods(2)))
        .containsExactly(0, 1);
    assertThat(Fleet.scores(scorer, with("x-session-id", "t"), Fleet.pods(2)))
        .containsExactly(0, 0);
  }

  @Test
  void sessionsUsedLongestAgo_areForgotten() {
    SessionAffinityScorer scorer = SessionAffinityScorer.bySessionId("x-session-id", 1);
    send(scorer, with("x-session-id", "s"), 0);
    send(scorer, with("x-session-id", "t"), 0);
    assertThat(Fleet.scores(scorer, with("x-session-id", "s"), Fleet.pods(1))).containsExactly(0);
    assertThatThrownBy(() -> SessionAffinityScorer.bySessionId("x", 0))
        .hasMessageContaining("must store 1 or more");
  }

  @Test
  void aWarmRequest_getsAHalfEverywhere() {
    Cycle warm = Fleet.cycle();
    warm.leave(PrefixMatches.class, new PrefixMatches(16, 64, Map.of("ns/a", 1)));
    assertThat(Fleet.scores(new NoHitLruScorer(), warm, Fleet.pods(2))).containsExactly(0.5, 0.5);
  }

  @Test
  void aColdRequest_goesToTheEndpointUnusedForLongest() {
    NoHitLruScorer scorer = new NoHitLruScorer();
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(3))).containsExactly(1, 0.5, 0);
    cold(scorer, 1);
    cold(scorer, 0);
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(3))).containsExactly(0, 0.5, 1);
    cold(scorer, 1);
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(3))).containsExactly(0.5, 0, 1);
  }

  @Test
  void aSingleEndpoint_getsAll() {
    NoHitLruScorer scorer = new NoHitLruScorer();
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(1))).containsExactly(1);
    cold(scorer, 0);
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(1))).containsExactly(1);
  }

  @Test
  void warmRequests_leaveTheOrderAlone() {
    NoHitLruScorer scorer = new NoHitLruScorer();
    Cycle warm = Fleet.cycle();
    warm.leave(PrefixMatches.class, new PrefixMatches(16, 64, Map.of("ns/a", 1)));
    Fleet.scores(scorer, warm, Fleet.pods(2));
    send(scorer, warm, 0);
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(2))).containsExactly(1, 0);
  }

  @Test
  void endpointsThatAreNoCandidates_takeNoRank() {
    NoHitLruScorer scorer = new NoHitLruScorer();
    for (int pod = 5; pod >= 0; pod--) {
      cold(scorer, pod);
    }
    assertThat(Fleet.scores(scorer, Fleet.cycle(), Fleet.pods(2))).containsExactly(0, 1);
  }

  private static void cold(NoHitLruScorer scorer, int pod) {
    Cycle cycle = Fleet.cycle();
    Fleet.scores(scorer, cycle, Fleet.pods(3));
    send(scorer, cycle, pod);
  }
}
