package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.index.PodEntry;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PodFieldsTest {

  private static final long SEED = 4_646;

  private final RedisIndexCounts counts = new RedisIndexCounts();
  private final PodFields fields = new PodFields(counts);

  @Test
  void writtenFields_areReadBack() {
    Random random = new Random(SEED);
    System.out.println("pod fields, seed " + SEED);
    for (int i = 0; i < 10_000; i++) {
      PodEntry holder =
          new PodEntry(
              "p" + text(random),
              text(random),
              random.nextBoolean(),
              random.nextBoolean(),
              random.nextInt());
      assertThat(fields.read(field(PodFields.bytesOf(holder)))).isEqualTo(holder);
    }
    assertThat(unreadable()).isZero();
    assertThat(fields.remembered()).isLessThanOrEqualTo(PodFields.REMEMBERED);
  }

  private long unreadable() {
    return counts.get(RedisIndexCount.UNREADABLE_FIELDS);
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(6); i > 0; i--) {
      int point = random.nextInt(random.nextInt(4) == 0 ? 0x11_0000 : 0x80);
      text.appendCodePoint(point >= 0xd800 && point < 0xe000 ? 'x' : point);
    }
    return text.toString();
  }

  @Test
  void brokenFields_areCountedAndNeverThrow() {
    Random random = new Random(SEED);
    byte[] good = PodFields.bytesOf(new PodEntry("10.0.0.1:8000", "gpu", true, true, 7));
    int unread = 0;
    for (int i = 0; i < 10_000; i++) {
      byte[] broken = good.clone();
      for (int flips = random.nextInt(3); flips >= 0; flips--) {
        broken[random.nextInt(broken.length)] = (byte) random.nextInt(256);
      }
      int length = random.nextInt(4) == 0 ? random.nextInt(broken.length) : broken.length;
      if (fields.read(field(Arrays.copyOf(broken, length))) == null) {
        unread++;
      }
    }
    assertThat(unread).isPositive();
    assertThat(unreadable()).isEqualTo(unread);
  }

  @Test
  void fieldsThatGoCanRead_areRead() {
    PodEntry plain = new PodEntry("p", "", false, false, 0);
    assertThat(read("{\"PodIdentifier\":\"p\"}")).isEqualTo(plain);
    assertThat(read(" {\"podIDENTIFIER\":\"p\",\"DeviceTier\":null,\"X\":[{}]} ")).isEqualTo(plain);
  }

  @Test
  void fieldsThatGoCannotRead_areSkipped() {
    String[] unreadable = {
      "",
      "null",
      "[]",
      "1",
      "\"p\"",
      "{}",
      "{",
      "{\"PodIdentifier\":1}",
      "p@gpu",
      "{\"PodIdentifier\":\"p\",\"GroupIdx\":1.5}",
      "{\"PodIdentifier\":\"p\",\"GroupIdx\":99999999999}",
      "{\"PodIdentifier\":\"p\",\"Speculative\":\"true\"}",
      "{\"PodIdentifier\":\"p\"} x",
      "[".repeat(2_000),
      "{\"PodIdentifier\":\"" + "p".repeat(PodFields.LONGEST) + "\"}"
    };
    for (String text : unreadable) {
      assertThat(read(text)).as(text).isNull();
    }
    assertThat(unreadable()).isEqualTo(unreadable.length);
  }

  private @Nullable PodEntry read(String text) {
    return fields.read(field(text.getBytes(UTF_8)));
  }

  private static Response field(byte[] bytes) {
    return new Response() {
      @Override
      public ResponseType type() {
        return ResponseType.BULK;
      }

      @Override
      public String toString() {
        return toString(UTF_8);
      }

      @Override
      public String toString(Charset charset) {
        return new String(bytes, charset);
      }

      @Override
      public Buffer toBuffer() {
        return Buffer.buffer(new String(bytes, ISO_8859_1));
      }
    };
  }
}
