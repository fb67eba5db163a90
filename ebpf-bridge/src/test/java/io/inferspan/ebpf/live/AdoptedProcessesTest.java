package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class AdoptedProcessesTest {

  private final Set<Long> running = new TreeSet<>(Set.of(2L, 3L));
  private final List<Long> joined = new ArrayList<>();

  @Test
  void descendantsThatStartDuringAScan_areJoinedOnce() {
    boolean complete =
        AdoptedProcesses.joinDescendants(
            () -> new TreeSet<>(running),
            each -> {
              joined.add(each);
              running.add(4L);
            });

    assertThat(complete).isTrue();
    assertThat(joined).containsExactly(2L, 3L, 4L);
  }

  @Test
  void descendantsThatStartWithoutEnd_areReported() {
    boolean complete =
        AdoptedProcesses.joinDescendants(
            () -> {
              running.add(running.size() + 2L);
              return new TreeSet<>(running);
            },
            joined::add);

    assertThat(complete).isFalse();
    assertThat(joined).hasSize(12);
  }
}
