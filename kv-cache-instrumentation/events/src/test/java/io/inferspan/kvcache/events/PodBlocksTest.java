package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PodBlocksTest {

  private static final long SEED = 7;
  private static final KvEvent.Place PLACE = new KvEvent.Place("gpu", false, 0);

  private record Expected(long key, int count) {}

  @Test
  void randomStoresAndRemoves_matchAMap() {
    System.out.println("seed " + SEED);
    Random random = new Random(SEED);
    PodBlocks.Tier table = new PodBlocks.Tier("pod", PLACE);
    Map<Long, Expected> model = new HashMap<>();
    for (int i = 0; i < 150_000; i++) {
      // Few hashes, some of them neighbours, so that runs of slots collide, grow and close.
      long hash = random.nextInt(3000) * (random.nextBoolean() ? 1L : 1L << 40);
      if (random.nextInt(100) < (i / 50_000 % 2 == 0 ? 60 : 40)) {
        long[] keys = {random.nextLong()};
        table.store(hash, keys, 0, 1);
        model.merge(hash, new Expected(keys[0], 1), (a, b) -> new Expected(b.key(), a.count() + 1));
      } else {
        Expected was = model.get(hash);
        int left = table.remove(hash);
        assertThat(left).isEqualTo(was == null ? -1 : was.count() - 1);
        if (was != null && was.count() == 1) {
          model.remove(hash);
        } else if (was != null) {
          model.put(hash, new Expected(was.key(), was.count() - 1));
        }
      }
      assertThat(table.size()).isEqualTo(model.size());
    }
    model.forEach(
        (hash, expected) -> assertThat(table.lastKey(table.slot(hash))).isEqualTo(expected.key()));
  }

  @Test
  void aBlockOfSeveralKeys_keepsAllOfThem() {
    PodBlocks.Tier table = new PodBlocks.Tier("pod", PLACE);

    table.store(1, new long[] {10, 11, 12, 13}, 1, 4);

    assertThat(table.keys(table.slot(1))).containsExactly(11, 12, 13);
    assertThat(table.lastKey(table.slot(1))).isEqualTo(13);
    table.store(1, new long[] {20}, 0, 1);
    assertThat(table.keys(table.slot(1))).containsExactly(20);
  }
}
