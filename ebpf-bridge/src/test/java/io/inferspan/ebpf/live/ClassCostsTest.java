package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The estimated cost of launches, which are detached, while requests are recognised. */
class ClassCostsTest {

  private static final DetailLevels DETACHED =
      DetailLevels.FULL.with(EventClass.LAUNCHES, DetailLevel.DETACHED);

  private final ClassCosts costs = new ClassCosts();

  @Test
  void attachedClassThatCostsMore_scalesTheEstimate() {
    assertThat(launchesAfter(0.2, 0.6)).isEqualTo(3, within());
  }

  /** A few system calls of any process are not the load of an engine. */
  @Test
  void attachedClassThatCostsLittle_doesNotScaleTheEstimate() {
    assertThat(launchesAfter(0.01, 0.09)).isEqualTo(1, within());
  }

  private double launchesAfter(double requestsBefore, double requestsNow) {
    costs.follow(
        new Load(1, Map.of(EventClass.LAUNCHES, 1.0, EventClass.REQUESTS, requestsBefore)),
        DetailLevels.FULL);
    costs.follow(new Load(1, Map.of(EventClass.REQUESTS, requestsNow)), DETACHED);
    Double launches = costs.of(EventClass.LAUNCHES);
    return launches == null ? 0 : launches;
  }

  private static Offset<Double> within() {
    return Offset.offset(1e-9);
  }
}
