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

class HitsPoolTest {

  private final HitsPool pool = new HitsPool();

  @Test
  void aBuffer_isReused() {
    BlockHits hits = pool.acquire();
    pool.release(hits);

    assertThat(pool.acquire()).isSameAs(hits);
    assertThat(pool.acquire()).isNotSameAs(hits);
  }

  @Test
  void bufferAboveTheMaximum_isNotPooled() {
    List<BlockHits> all = new ArrayList<>();
    for (int i = 0; i <= HitsPool.MAX_POOLED; i++) {
      all.add(new BlockHits());
    }
    all.forEach(pool::release);

    for (int i = 0; i < HitsPool.MAX_POOLED; i++) {
      assertThat(all).contains(pool.acquire());
    }
    assertThat(all).doesNotContain(pool.acquire());
  }

  @Test
  void aHugeBuffer_isNotPooled() {
    BlockHits hits = pool.acquire();
    hits.reset(HitsPool.MAX_POOLED_KEYS + 1);
    pool.release(hits);

    assertThat(pool.acquire()).isNotSameAs(hits);
  }

  @Test
  void noTwoThreads_haveTheSameBuffer() throws Exception {
    AtomicIntegerArray clashes = new AtomicIntegerArray(1);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> runs = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int mark = t + 1;
        runs.add(threads.submit(() -> useMany(mark, clashes)));
      }
      for (Future<?> run : runs) {
        run.get(30, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(clashes.get(0)).as("buffers that two threads held at once").isZero();
  }

  /** Marks each acquired buffer by its size; a different mark means that another thread has it. */
  private void useMany(int mark, AtomicIntegerArray clashes) {
    for (int i = 0; i < 50_000; i++) {
      BlockHits hits = pool.acquire();
      hits.reset(mark);
      Thread.onSpinWait();
      if (hits.size() != mark) {
        clashes.incrementAndGet(0);
      }
      pool.release(hits);
    }
  }
}
