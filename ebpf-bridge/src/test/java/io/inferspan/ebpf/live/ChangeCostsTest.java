package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.EventClass;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When trials may follow changes; a cost of a second is that of a second's budget. */
class ChangeCostsTest {

  private final ChangeCosts costs = new ChangeCosts(0);

  @Test
  void manyChanges_delayTrialsByAtMostTenSeconds() {
    for (int i = 0; i < 20; i++) {
      costs.add(5e8, 0, 0);
    }

    assertThat(costs.nextTrial(EventClass.REQUESTS, 0)).isEqualTo(TimeUnit.SECONDS.toNanos(10));
  }

  @Test
  void expensiveChange_delaysTrialsUntilAFifthOfTheBudgetHasCoveredIt() {
    costs.add(3e9, 0, 0);

    assertThat(costs.nextTrial(EventClass.REQUESTS, 0)).isEqualTo(TimeUnit.SECONDS.toNanos(15));
  }
}
