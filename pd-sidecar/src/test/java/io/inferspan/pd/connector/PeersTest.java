package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.upstream.Target;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PeersTest {
  private static Target target(String text) {
    return Objects.requireNonNull(Target.parse(text));
  }

  @ParameterizedTest
  @CsvSource({
    "pod:8000, 4, 7777",
    "pod:8002, 4, 7779",
    "pod:8003, 4, 7780",
    "pod:7999, 4, 7777",
    "pod:8004, 4, 7777",
    "pod, 4, 7777",
    "http://pod:8002, 4, 7779",
    "'[fd00::1]:8001', 4, 7778",
    "pod:8000, 1, 7777",
    "pod:8001, 1, 7777"
  })
  void peerPort_isThatOfItsRank(String sidecar, int ranks, int expected) {
    Peers peers = new Peers(7777, 8000, ranks, null);

    assertThat(peers.port(target(sidecar))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "pod:8000, http://pod:8000, true",
    "pod:8000, POD:8000, true",
    "'[fd00::1]:8000', 'http://[fd00:0:0:0:0:0:0:1]:8000', true",
    "10.0.0.1:8000, 10.0.0.1:8000, true",
    "10.0.0.1:8000, 10.0.0.2:8000, false",
    "pod:8000, pod:8001, false",
    "pod-a:8000, pod-b:8000, false"
  })
  void endpoints_areEqual_inAnyNotation(String one, String other, boolean same) {
    assertThat(Peers.same(target(one), target(other))).isEqualTo(same);
  }
}
