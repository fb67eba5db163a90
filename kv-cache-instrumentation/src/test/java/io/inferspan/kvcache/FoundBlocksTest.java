package io.inferspan.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FoundBlocksTest {

  private static final PodEntry A = PodEntry.of("a", "gpu");
  private static final PodEntry A_CPU = PodEntry.of("a", "cpu");
  private static final PodEntry B = PodEntry.of("b", "gpu");

  private static BlockHits hits(PodEntry[]... holders) {
    BlockHits hits = new BlockHits();
    hits.reset(holders.length);
    for (int i = 0; i < holders.length; i++) {
      hits.set(i, holders[i]);
    }
    return hits;
  }

  private static PodEntry[] at(PodEntry... holders) {
    return holders;
  }

  @Test
  void noBlocks_areNothing() {
    assertThat(FoundBlocks.in(hits())).isEqualTo(new FoundBlocks(0, 0, Set.of()));
    assertThat(FoundBlocks.longestChain(hits())).isZero();
  }

  @Test
  void tiersOfOnePod_areTwoEntriesAndOnePod() {
    FoundBlocks found = FoundBlocks.in(hits(at(A, A_CPU), at(), at(B)));

    assertThat(found).isEqualTo(new FoundBlocks(2, 3, Set.of("a", "b")));
    assertThat(found.pods()).containsExactly("a", "b");
  }

  @Test
  void aChain_endsAtTheFirstBlockThatNoPodInItHolds() {
    assertThat(FoundBlocks.longestChain(hits(at(A), at(A), at(A)))).isEqualTo(3);
    assertThat(FoundBlocks.longestChain(hits(at(A, B), at(B), at(A)))).isEqualTo(2);
    assertThat(FoundBlocks.longestChain(hits(at(A), at(A_CPU), at(B)))).isEqualTo(2);
    assertThat(FoundBlocks.longestChain(hits(at(A), at(), at(A)))).isEqualTo(1);
    assertThat(FoundBlocks.longestChain(hits(at(), at(A)))).isZero();
  }

  @Test
  void holdersThatAreEqualButNotTheSame_countTheSame() {
    Random random = new Random(7);
    for (int round = 0; round < 500; round++) {
      PodEntry[][] interned = new PodEntry[1 + random.nextInt(8)][];
      PodEntry[][] fresh = new PodEntry[interned.length][];
      for (int i = 0; i < interned.length; i++) {
        Set<PodEntry> holders = new LinkedHashSet<>();
        for (PodEntry each : new PodEntry[] {A, A_CPU, B}) {
          if (random.nextInt(4) > 0) {
            holders.add(each);
          }
        }
        boolean asBefore = i > 0 && random.nextBoolean();
        interned[i] = asBefore ? interned[i - 1] : holders.toArray(PodEntry[]::new);
        fresh[i] =
            Stream.of(interned[i])
                .map(h -> PodEntry.of(h.pod(), h.tier()))
                .toArray(PodEntry[]::new);
      }
      assertThat(FoundBlocks.in(hits(interned))).isEqualTo(FoundBlocks.in(hits(fresh)));
      assertThat(hits(interned).found()).isEqualTo(FoundBlocks.in(hits(fresh)).blocks());
      assertThat(FoundBlocks.longestChain(hits(interned)))
          .isEqualTo(FoundBlocks.longestChain(hits(fresh)))
          .isEqualTo(plainly(fresh));
    }
  }

  /** The same, by asking each pod. */
  private static int plainly(PodEntry[][] holders) {
    int longest = 0;
    for (String pod : Set.of("a", "b")) {
      int chain = 0;
      while (chain < holders.length && podsOf(holders[chain]).contains(pod)) {
        chain++;
      }
      longest = Math.max(longest, chain);
    }
    return longest;
  }

  private static Set<String> podsOf(PodEntry[] holders) {
    Set<String> pods = new HashSet<>();
    for (PodEntry holder : holders) {
      pods.add(holder.pod());
    }
    return pods;
  }
}
