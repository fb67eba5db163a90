package io.inferspan.samples.desk.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Checks that damaged requests are either refused with a reason, or read into usable spans. */
class ExportFuzzTest {

  private static final long SEED = Long.getLong("fuzz.seed", 20_261_121L);
  private static final int ROUNDS = Integer.getInteger("fuzz.rounds", 60_000);

  private final Random random = new Random(SEED);
  private final ExportReader reader = new ExportReader(new Drops());

  private static byte[] whole() {
    return TestSpan.export(
        TestSpan.named("first", "a")
            .id(1, 2, 0)
            .at(0, 5)
            .with("text", "some text")
            .with("list", List.of(1L, "x", List.of(true)))
            .event("e", 1)
            .link(3, 4)
            .error("bad"),
        TestSpan.named("second", "b").id(1, 5, 2).at(1, 2).with("n", -1L).with("d", 0.5));
  }

  @Test
  void damagedRequests_areRefusedOrReadable() {
    System.out.println("fuzz.seed=" + SEED);
    int read = 0;
    int refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = damaged(whole());
      try {
        for (Received received : reader.read(bytes).spans()) {
          assertThat(received.span().detail()).isNotNull();
          read++;
        }
      } catch (MalformedException e) {
        assertThat(e.reason()).isNotEmpty();
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("round " + i + " of seed " + SEED, e);
      }
    }
    // Both outcomes must be frequent; otherwise the damage is too small or too large.
    assertThat(read).isGreaterThan(ROUNDS / 20);
    assertThat(refused).isGreaterThan(ROUNDS / 20);
  }

  @Test
  void noise_isRefusedOrEmpty() {
    for (int i = 0; i < ROUNDS; i++) {
      byte[] noise = new byte[random.nextInt(64)];
      random.nextBytes(noise);
      try {
        reader.read(noise).spans().forEach(received -> received.span().detail());
      } catch (MalformedException e) {
        assertThat(e.reason()).isNotEmpty();
      }
    }
  }

  private byte[] damaged(byte[] bytes) {
    int times = 1 + random.nextInt(4);
    byte[] damaged = bytes;
    for (int i = 0; i < times && damaged.length > 0; i++) {
      int at = random.nextInt(damaged.length);
      switch (random.nextInt(4)) {
        case 0 -> damaged[at] = (byte) random.nextInt();
        case 1 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> damaged = Arrays.copyOf(damaged, at);
        default -> {
          int to = random.nextInt(damaged.length);
          int count = Math.min(random.nextInt(16), damaged.length - Math.max(at, to));
          System.arraycopy(damaged, at, damaged, to, count);
        }
      }
    }
    return damaged;
  }
}
