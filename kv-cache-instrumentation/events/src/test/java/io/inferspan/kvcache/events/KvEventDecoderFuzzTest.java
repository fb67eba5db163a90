package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Allocations;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KvEventDecoderFuzzTest {

  private static final long SEED = 20_260_722;
  private static final int FRAMES = 1_000_000;

  private final KvEventDecoder decoder = new KvEventDecoder();
  private final Random random = new Random(SEED);

  @Test
  void aMillionMutatedFrames_neverThrow_andStayBounded() {
    System.out.println("seed " + SEED);
    byte[][] seeds = seeds();
    long read = 0;
    long refused = 0;
    for (int i = 0; i < FRAMES; i++) {
      byte[] frame = mutated(seeds[i % seeds.length]);
      long before = Allocations.ofThisThread();
      KvEventBatch batch = decoder.decode(frame);
      long allocated = Allocations.ofThisThread() - before;
      assertThat(allocated).isLessThan(20_000 + 200L * frame.length);
      if (batch == null) {
        refused++;
      } else {
        read++;
      }
    }
    // Mutations that all fail at once, or that all do no harm, would test nothing.
    assertThat(read).isGreaterThan(FRAMES / 20);
    assertThat(refused).isGreaterThan(FRAMES / 20);
  }

  private static byte[][] seeds() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("type", "BlockStored");
    map.put("block_hashes", List.of(1L, new byte[32]));
    map.put("parent_block_hash", new byte[8]);
    map.put("token_ids", EventBytes.tokens(1000, 32));
    map.put("block_size", 16);
    map.put("medium", "GPU");
    map.put("extra_keys", EventBytes.list(null, List.of("a", List.of("b", 1))));
    return new byte[][] {
      EventBytes.batch(EventBytes.stored(1, null, 1), EventBytes.removed(1, 2, 3)),
      EventBytes.batch(map, Map.of("type", "AllBlocksCleared")),
      EventBytes.batch(
          EventBytes.list(
              "BlockStored",
              List.of(-1L),
              9L,
              EventBytes.tokens(1, 16),
              16,
              null,
              "cpu",
              "lora",
              null,
              0,
              "full_attention",
              128)),
      EventBytes.pack(List.of(1.0, List.of(List.of("AllBlocksCleared")), 3)),
    };
  }

  private byte[] mutated(byte[] seed) {
    byte[] frame = seed.clone();
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes && frame.length > 0; i++) {
      frame = mutatedOnce(frame);
    }
    return frame;
  }

  private byte[] mutatedOnce(byte[] frame) {
    int at = random.nextInt(frame.length);
    switch (random.nextInt(5)) {
      case 0 -> frame[at] = (byte) random.nextInt();
      case 1 -> frame[at] ^= (byte) (1 << random.nextInt(8));
      case 2 -> frame[at] = (byte) (0xc0 + random.nextInt(0x20));
      case 3 -> {
        byte[] shorter = new byte[frame.length - 1];
        System.arraycopy(frame, 0, shorter, 0, at);
        System.arraycopy(frame, at + 1, shorter, at, frame.length - at - 1);
        return shorter;
      }
      default -> {
        byte[] longer = new byte[frame.length + 1];
        System.arraycopy(frame, 0, longer, 0, at);
        longer[at] = (byte) random.nextInt();
        System.arraycopy(frame, at, longer, at + 1, frame.length - at);
        return longer;
      }
    }
    return frame;
  }
}
