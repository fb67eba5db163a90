package io.inferspan.response;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Randomly broken bodies. */
class ResponseTapFuzzTest {

  private static final int BODIES = 1_000_000;
  private static final long SEED = 20_260_101;
  private static final byte[] ODD =
      "\"\\{}[],:\n\r \t0-e\u0000\u001f\u00e9\uff5d".getBytes(StandardCharsets.UTF_8);

  private final Random random = new Random(SEED);

  @Test
  void brokenBodies_areRead_independentOfTheSplit() {
    List<byte[]> bodies = new ArrayList<>();
    Bodies.streams().values().forEach(body -> bodies.add(bytes(body)));
    Bodies.documents().values().forEach(body -> bodies.add(bytes(body)));
    for (int i = 0; i < BODIES; i++) {
      byte[] body = mutated(bodies.get(i % bodies.size()));
      boolean stream = i % 8 != 0;
      ResponseTap whole = tap(stream);
      whole.see(ByteBuffer.wrap(body), 7);
      if (!whole.isSeeing()) {
        assertThat(text(body)).as("was not read").isEmpty();
      }
      if (i % 4 == 0) {
        ResponseTap cut = tap(stream);
        int at = random.nextInt(body.length + 1);
        cut.see(ByteBuffer.wrap(body, 0, at), 7);
        cut.see(ByteBuffer.wrap(body, at, body.length - at), 7);
        if (!Seen.of(cut).equals(Seen.of(whole))) {
          assertThat(Seen.of(cut)).as("%s", text(body)).isEqualTo(Seen.of(whole));
        }
      }
    }
  }

  private static ResponseTap tap(boolean stream) {
    return ResponseTap.forContentType(stream ? Bodies.SSE : Bodies.JSON);
  }

  /** Returns a part of a body with random edits. */
  private byte[] mutated(byte[] valid) {
    int from = random.nextInt(4) == 0 ? 0 : random.nextInt(valid.length);
    int length = Math.min(valid.length - from, 1 + random.nextInt(600));
    byte[] body = Arrays.copyOfRange(valid, from, from + length);
    for (int edits = random.nextInt(6); edits > 0; edits--) {
      int at = random.nextInt(length);
      switch (random.nextInt(4)) {
        case 0 -> body[at] = (byte) random.nextInt(256);
        case 1 -> body[at] = ODD[random.nextInt(ODD.length)];
        case 2 -> body[at] = body[random.nextInt(length)];
        default ->
            System.arraycopy(
                valid,
                random.nextInt(valid.length - length + 1),
                body,
                at,
                random.nextInt(length - at));
      }
    }
    return body;
  }

  @Test
  void memory_isBounded() throws IllegalAccessException {
    ResponseTap tap = ResponseTap.forContentType(Bodies.SSE);
    String wide = "ü".repeat(5_000);
    for (int i = 0; i < 200; i++) {
      String word = "w" + "x".repeat(62);
      String choice =
          "\"index\":%d,\"delta\":{\"content\":\"%s\"},\"finish_reason\":\"%s\""
              .formatted(i, wide, word);
      tap.see(Seen.buffer(Bodies.chatChoice(choice)), i);
      tap.see(Seen.buffer(Bodies.chatDelta("{\"content\":\"a\"}")), i);
      tap.see(
          Seen.buffer(
              Bodies.data("{\"model\":\"%s\",\"%s\":%s".formatted(wide, wide, "[{".repeat(9_000)))),
          i);
      tap.see(Seen.buffer("event: " + wide + "\n" + wide + ": x\ndata: " + wide), i);
      tap.see(
          Seen.buffer(
              "\n\n"
                  + Bodies.data(
                      "{\"error\":{\"type\":\"%s\",\"code\":\"%s\"}}".formatted(word, word))),
          i);
    }

    assertThat(tap.finishReasons()).hasSize(ResponseFacts.MAX_CHOICES);
    assertThat(heldBytes(tap)).isBetween(3_000L, (long) ResponseTap.MAX_HELD_BYTES);
  }

  private static long heldBytes(Object root) throws IllegalAccessException {
    return heldBytes(root, Collections.newSetFromMap(new IdentityHashMap<>()));
  }

  /** Returns the bytes of all objects reachable from {@code root}, except constants. */
  private static long heldBytes(@Nullable Object holder, Set<Object> counted)
      throws IllegalAccessException {
    if (holder == null || holder instanceof Enum<?> || !counted.add(holder)) {
      return 0;
    }
    if (holder instanceof String text) {
      return 48L + 2L * text.length();
    }
    long bytes = 16;
    if (holder.getClass().isArray()) {
      int length = Array.getLength(holder);
      boolean byteArray = holder instanceof byte[];
      for (int i = 0; i < length; i++) {
        bytes += byteArray ? 1 : 4;
        bytes += holder instanceof Object[] all ? heldBytes(all[i], counted) : 0;
      }
      return bytes;
    }
    for (Field field : holder.getClass().getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        field.setAccessible(true);
        bytes += 8;
        bytes += field.getType().isPrimitive() ? 0 : heldBytes(field.get(holder), counted);
      }
    }
    return bytes;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
