package io.inferspan.epp.plugins.score;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Endpoint.Metrics;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.Scorer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

final class LoadScorersTest {

  private static double[] scores(Scorer scorer, IntFunction<Metrics> load, int... values) {
    List<Endpoint> pods = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      pods.add(Fleet.pod(i).withMetrics(load.apply(values[i])));
    }
    return Fleet.scores(scorer, Fleet.cycle(), pods);
  }

  private static Metrics waiting(int requests) {
    return new Metrics(requests, 0, 0, 0, 0);
  }

  private static Metrics running(int requests) {
    return new Metrics(0, requests, 0, 0, 0);
  }

  private static Metrics active(int requests) {
    return new Metrics(0, 0, 0, requests, 0);
  }

  @Test
  void queue_rangesFromTheLongestToTheShortest() {
    assertThat(scores(LoadScorers.queue(), LoadScorersTest::waiting, 10, 0, 5))
        .containsExactly(0, 1, 0.5);
  }

  @Test
  void queue_givesEqualsAll() {
    assertThat(scores(LoadScorers.queue(), LoadScorersTest::waiting, 3, 3)).containsExactly(1, 1);
    assertThat(scores(LoadScorers.queue(), LoadScorersTest::waiting, 9)).containsExactly(1);
    assertThat(scores(LoadScorers.queue(), LoadScorersTest::waiting)).isEmpty();
  }

  @Test
  void runningRequests_rangeFromTheMostToTheFewest() {
    assertThat(scores(LoadScorers.runningRequests(), LoadScorersTest::running, 8, 4, 6))
        .containsExactly(0, 1, 0.5);
  }

  @Test
  void kvCacheUtilization_scoresTheFreeShare() {
    Endpoint pod = Fleet.pod(0).withMetrics(new Metrics(0, 0, 0.25, 0, 0));
    assertThat(Fleet.scores(LoadScorers.kvCacheUtilization(), Fleet.cycle(), List.of(pod)))
        .containsExactly(0.75);
  }

  @Test
  void loadAware_givesHalfToAnEmptyQueueAndNothingFrom128() {
    assertThat(scores(LoadScorers.loadAware(), LoadScorersTest::waiting, 0, 32, 128, 500))
        .containsExactly(0.5, 0.375, 0, 0);
  }

  @Test
  void activeRequests_areSharesOfTheMost() {
    assertThat(scores(LoadScorers.activeRequests(), LoadScorersTest::active, 0, 1, 4))
        .containsExactly(1, 0.75, 0);
  }

  @Test
  void activeRequests_leaveAGapBetweenIdleAndBusy() {
    Scorer scorer = LoadScorers.activeRequests(2, 0.5);
    assertThat(scores(scorer, LoadScorersTest::active, 2, 3, 6)).containsExactly(1, 0.25, 0);
    assertThat(scores(scorer, LoadScorersTest::active, 0, 0)).containsExactly(1, 1);
  }

  @Test
  void tokenLoad_endsAt4Mi() {
    Endpoint half = Fleet.pod(0).withMetrics(new Metrics(0, 0, 0, 0, 2_097_152));
    Endpoint full = Fleet.pod(1).withMetrics(new Metrics(0, 0, 0, 0, 9_000_000));
    assertThat(
            Fleet.scores(LoadScorers.tokenLoad(), Fleet.cycle(), List.of(Fleet.pod(2), half, full)))
        .containsExactly(1, 0.5, 0);
  }

  @Test
  void types_areLlmds() {
    assertThat(
            List.of(
                LoadScorers.queue().type(),
                LoadScorers.runningRequests().type(),
                LoadScorers.kvCacheUtilization().type(),
                LoadScorers.loadAware().type(),
                LoadScorers.activeRequests().type(),
                LoadScorers.tokenLoad().type()))
        .containsExactly(
            "queue-scorer",
            "running-requests-size-scorer",
            "kv-cache-utilization-scorer",
            "load-aware-scorer",
            "active-request-scorer",
            "token-load-scorer");
  }

  @Test
  void settingsThatMakeNoSense_areRefused() {
    assertThatThrownBy(() -> LoadScorers.activeRequests(-1, 1))
        .hasMessageContaining("are -1 and 1.0; idleRequests must be 0 or more");
    assertThatThrownBy(() -> LoadScorers.activeRequests(0, Double.NaN))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LoadScorers.loadAware(0)).hasMessageContaining("must be above 0");
  }
}
