package io.inferspan.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.index.BlockHits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class SpareHitsTest {

  private final SpareHits spare = new SpareHits();

  @Test
  void aBuffer_isReused() {
    BlockHits hits = spare.take();
    spare.giveBack(hits);

    assertThat(spare.take()).isSameAs(hits);
    assertThat(spare.take()).isNotSameAs(hits);
  }

  @Test
  void oneBufferTooMany_isNotPooled() {
    List<BlockHits> all = new ArrayList<>();
    for (int i = 0; i <= SpareHits.MAX_SPARE; i++) {
      all.add(new BlockHits());
    }
    all.forEach(spare::giveBack);

    for (int i = 0; i < SpareHits.MAX_SPARE; i++) {
      assertThat(all).contains(spare.take());
    }
    assertThat(all).doesNotContain(spare.take());
  }

  @Test
  void aHugeBuffer_isNotPooled() {
    BlockHits hits = spare.take();
    hits.reset(SpareHits.MAX_KEYS_KEPT + 1);
    spare.giveBack(hits);

    assertThat(spare.take()).isNotSameAs(hits);
  }

  @Test
  void noTwoThreads_haveTheSameBuffer() throws Exception {
    AtomicIntegerArray users = new AtomicIntegerArray(1);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> runs = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int mark = t + 1;
        runs.add(threads.submit(() -> useMany(mark, users)));
      }
      for (Future<?> run : runs) {
        run.get(30, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(users.get(0)).as("buffers seen in two hands").isZero();
  }

  /** Marks a buffer by its size while it is held; another's mark in it is another holder. */
  private void useMany(int mark, AtomicIntegerArray clashes) {
    for (int i = 0; i < 50_000; i++) {
      BlockHits hits = spare.take();
      hits.reset(mark);
      Thread.onSpinWait();
      if (hits.size() != mark) {
        clashes.incrementAndGet(0);
      }
      spare.giveBack(hits);
    }
  }
}
