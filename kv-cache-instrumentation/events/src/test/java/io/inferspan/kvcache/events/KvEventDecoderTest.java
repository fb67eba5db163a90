package io.inferspan.kvcache.events;

import static io.inferspan.kvcache.events.EventBytes.batch;
import static io.inferspan.kvcache.events.EventBytes.list;
import static io.inferspan.kvcache.events.EventBytes.pack;
import static io.inferspan.kvcache.events.EventBytes.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Allocations;
import io.inferspan.kvcache.events.KvEvent.AllBlocksCleared;
import io.inferspan.kvcache.events.KvEvent.BlockRemoved;
import io.inferspan.kvcache.events.KvEvent.BlockStored;
import io.inferspan.kvcache.events.KvEvent.Place;
import io.inferspan.kvcache.events.KvEvent.Unreadable;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class KvEventDecoderTest {

  private static final Place GPU = new Place("gpu", false, 0);

  private final KvEventDecoder decoder = new KvEventDecoder();

  private KvEvent only(Object event) {
    KvEventBatch batch = decoder.decode(batch(event));
    assertThat(batch).isNotNull();
    assertThat(Objects.requireNonNull(batch).events()).hasSize(1);
    return batch.events().get(0);
  }

  private BlockStored stored(@Nullable Object... afterTag) {
    @Nullable Object[] all = new @Nullable Object[afterTag.length + 1];
    all[0] = "BlockStored";
    System.arraycopy(afterTag, 0, all, 1, afterTag.length);
    return (BlockStored) only(list(all));
  }

  @Test
  void case45_arrayFormWithAllFields_isRead() {
    BlockStored event =
        stored(
            List.of(1L, -2L),
            7L,
            tokens(100_000, 4),
            2,
            3,
            "CPU",
            "an-adapter",
            list(null, list("image", list("other", 5), 9)),
            1,
            "full_attention",
            null);

    assertThat(event.hashes()).containsExactly(1, -2);
    assertThat(event.parent()).isEqualTo(7);
    assertThat(event.tokens()).containsExactly(100_000, 100_001, 100_002, 100_003);
    assertThat(event.blockSize()).isEqualTo(2);
    assertThat(event.place()).isEqualTo(new Place("cpu", true, 1));
    assertThat(event.loraName()).isEqualTo("an-adapter");
    assertThat(event.extras()).isEqualTo(List.of(List.of(), List.of("image", "other")));
    assertThat(event.cacheKind()).isEqualTo("full_attention");
  }

  @Test
  void case45_mapForm_isReadInAnyOrder() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("token_ids", tokens(1, 2));
    fields.put("block_size", 2);
    fields.put("something_new", List.of(Map.of("deep", List.of(1))));
    fields.put("kv_cache_spec_kind", "mla_attention");
    fields.put("group_idx", 2);
    fields.put("lora_name", "an-adapter");
    fields.put("medium", "GPU");
    fields.put("parent_block_hash", 5L);
    fields.put("block_hashes", List.of(6L));
    fields.put("type", "BlockStored");

    BlockStored event = (BlockStored) only(fields);

    assertThat(event.hashes()).containsExactly(6);
    assertThat(event.parent()).isEqualTo(5);
    assertThat(event.tokens()).containsExactly(1, 2);
    assertThat(event.place()).isEqualTo(new Place("gpu", true, 2));
    assertThat(event.loraName()).isEqualTo("an-adapter");
    assertThat(event.cacheKind()).isEqualTo("mla_attention");
  }

  @Test
  void case45_mapFormOfTheOthers_isRead() {
    assertThat(only(Map.of("type", "AllBlocksCleared"))).isEqualTo(new AllBlocksCleared());
    BlockRemoved removed =
        (BlockRemoved) only(Map.of("type", "BlockRemoved", "block_hashes", List.of(3L)));
    assertThat(removed.hashes()).containsExactly(3);
    assertThat(removed.place()).isEqualTo(GPU);
  }

  @Test
  void case45_shortSglangArrays_areRead() {
    BlockStored stored = stored(List.of(1L), null, tokens(1, 2), 2);
    assertThat(stored.parent()).isNull();
    assertThat(stored.place()).isEqualTo(GPU);
    assertThat(stored.loraName()).isNull();
    assertThat(stored.extras()).isNull();
    BlockRemoved removed = (BlockRemoved) only(list("BlockRemoved", List.of(1L, 2L)));
    assertThat(removed.hashes()).containsExactly(1, 2);
    assertThat(removed.place()).isEqualTo(GPU);
    assertThat(only(list("AllBlocksCleared"))).isEqualTo(new AllBlocksCleared());
  }

  @Test
  void case45_hashes_areNumbersOrBytes() {
    byte[] sha = new byte[32];
    for (int i = 0; i < sha.length; i++) {
      sha[i] = (byte) i;
    }
    BigInteger unsigned = new BigInteger("ffffffffffffff01", 16);

    BlockStored event =
        stored(list(unsigned, -5, sha, new byte[] {1, 2}, new byte[0]), sha, tokens(1, 80), 16);

    assertThat(event.hashes())
        .containsExactly(0xffffffffffffff01L, -5, 0x18191a1b1c1d1e1fL, 0x0102, 0);
    assertThat(event.parent()).isEqualTo(0x18191a1b1c1d1e1fL);
  }

  @Test
  void medium_isLowerCased_andEmptyIsGpu() {
    assertThat(((BlockRemoved) only(list("BlockRemoved", List.of(1L), "CPU_Pinned"))).place())
        .isEqualTo(new Place("cpu_pinned", false, 0));
    assertThat(((BlockRemoved) only(list("BlockRemoved", List.of(1L), ""))).place()).isEqualTo(GPU);
    assertThat(((BlockRemoved) only(list("BlockRemoved", List.of(1L), null, 4))).place())
        .isEqualTo(new Place("gpu", true, 4));
  }

  @Test
  void tokens_areUnsigned() {
    assertThat(
            stored(List.of(1L), null, list(0, 127, 128, 65_535, 65_536, 4294967295L), 6).tokens())
        .containsExactly(0, 127, 128, 65_535, 65_536, -1);
  }

  @Test
  void rankAndTime_areRead() {
    KvEventBatch batch = decoder.decode(pack(list(12, List.of(), 3, "what comes later")));

    assertThat(batch).isEqualTo(new KvEventBatch(12.0, List.of(), 3));
    assertThat(decoder.decode(pack(list(1.5f, List.of(), null))))
        .isEqualTo(new KvEventBatch(1.5, List.of(), -1));
  }

  @Test
  void anInvalidEvent_isSkippedAlone() {
    KvEventBatch batch =
        decoder.decode(
            batch(
                list("BlockStored", "no hashes", null, tokens(1, 2), 2),
                list("BlockStored", List.of(1L), null, list(-1), 1),
                list("BlockStored", List.of(1L), null, List.of(1)),
                list("BlockStored", List.of(1L), null, List.of(1), 0),
                list("SomethingNew", Map.of("a", List.of(1, 2))),
                list("BlockRemoved", List.of(9L))));

    assertThat(Objects.requireNonNull(batch).events().subList(0, 5))
        .extracting(event -> ((Unreadable) event).reason())
        .containsExactly(
            SkipReason.MALFORMED,
            SkipReason.MALFORMED,
            SkipReason.MALFORMED,
            SkipReason.MALFORMED,
            SkipReason.UNKNOWN_TYPE);
    assertThat(((BlockRemoved) batch.events().get(5)).hashes()).containsExactly(9);
  }

  @Test
  void anInvalidBatch_isNull() {
    byte[] whole = batch(EventBytes.stored(1, null, 1));
    for (int length = 0; length < whole.length; length++) {
      assertThat(decoder.decode(java.util.Arrays.copyOf(whole, length))).isNull();
    }
    assertThat(decoder.decode(java.util.Arrays.copyOf(whole, whole.length + 1))).isNull();
    assertThat(decoder.decode(pack("text"))).isNull();
    assertThat(decoder.decode(pack(List.of(1.0)))).isNull();
    assertThat(decoder.decode(pack(list("now", List.of())))).isNull();
  }

  @Test
  void deepNesting_isSkipped() {
    byte[] deep = new byte[1 << 20];
    java.util.Arrays.fill(deep, (byte) 0x91);
    deep[deep.length - 1] = 0;
    byte[] batch = new byte[deep.length + 3];
    batch[0] = (byte) 0x92;
    batch[1] = 0;
    batch[2] = (byte) 0x91;
    System.arraycopy(deep, 0, batch, 3, deep.length);

    assertThat(Objects.requireNonNull(decoder.decode(batch)).events())
        .containsExactly(new Unreadable(SkipReason.MALFORMED));
  }

  @Test
  void aDeclaredLength_allocatesNothing() {
    // An array of 2^32-1 hashes, then of tokens, in a frame of a few bytes, and a text of 4 GiB.
    byte[][] frames = {
      {(byte) 0x92, 0, (byte) 0xdd, -1, -1, -1, -1, (byte) 0x91},
      {(byte) 0x92, 0, (byte) 0x91, (byte) 0x92, (byte) 0xdb, -1, -1, -1, -1},
      {(byte) 0x92, 0, (byte) 0x91, (byte) 0xdf, -1, -1, -1, -1, (byte) 0xa0},
    };
    for (byte[] frame : frames) {
      decoder.decode(frame);
    }
    long before = Allocations.ofThisThread();
    for (byte[] frame : frames) {
      assertThat(decoder.decode(frame) == null).isTrue();
    }
    assertThat(Allocations.ofThisThread() - before).isLessThan(10_000);
  }

  @Test
  void aPlausibleLength_allocatesOnlyForTheBytesPresent() {
    // A megabyte of zeros, most of them a million hashes, and the rest of no use.
    byte[] frame = new byte[1 << 20];
    byte[] head = batch(list("BlockRemoved", List.of(1L)));
    int at = head.length - 2;
    System.arraycopy(head, 0, frame, 0, at);
    frame[at] = (byte) 0xdd;
    frame[at + 1] = 0;
    frame[at + 2] = 0x0f;
    decoder.decode(frame);

    long before = Allocations.ofThisThread();
    assertThat(decoder.decode(frame) == null).isTrue();
    assertThat(Allocations.ofThisThread() - before).isLessThan(40L * frame.length);
  }
}
