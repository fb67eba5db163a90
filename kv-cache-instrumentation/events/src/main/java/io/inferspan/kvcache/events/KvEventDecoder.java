package io.inferspan.kvcache.events;

import io.inferspan.kvcache.events.MsgpackReader.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes batches of events from vLLM and SGLang.
 *
 * <p>It accepts events that are arrays or maps and may lack trailing fields, and hashes that are
 * numbers or bytes. The result is never larger than a small multiple of the input. Not thread-safe.
 */
public final class KvEventDecoder {

  private static final String TYPE = "type";
  private static final String STORED = "BlockStored";
  private static final String REMOVED = "BlockRemoved";
  private static final String CLEARED_ALL = "AllBlocksCleared";
  private static final String HASHES = "block_hashes";
  private static final String MEDIUM = "medium";
  private static final String GROUP = "group_idx";

  /** The order of the fields of events that are arrays. */
  private static final List<String> STORED_FIELDS =
      List.of(
          HASHES,
          "parent_block_hash",
          "token_ids",
          "block_size",
          "lora_id",
          MEDIUM,
          "lora_name",
          "extra_keys",
          GROUP,
          "kv_cache_spec_kind");

  private static final List<String> REMOVED_FIELDS = List.of(HASHES, MEDIUM, GROUP);

  private static final KvEvent.AllBlocksCleared CLEARED = new KvEvent.AllBlocksCleared();
  private static final KvEvent.Unreadable UNKNOWN = new KvEvent.Unreadable(SkipReason.UNKNOWN_TYPE);

  private static final int MAX_EXTRAS_PER_BLOCK = 1024;
  private static final int KEPT_SCRATCH = 1 << 16;
  private static final String DEFAULT_TIER = "gpu";

  private final MsgpackReader in = new MsgpackReader();
  private final Texts tiers = new Texts(64, true);
  private final Texts names = new Texts(1024, false);
  private final Texts keys = new Texts(1024, false);

  private long[] longs = new long[64];
  private int[] ints = new int[1024];
  private long @Nullable [] hashes;
  private @Nullable Long parent;
  private int @Nullable [] tokens;
  private int blockSize;
  private @Nullable String tier;
  private @Nullable String loraName;
  private @Nullable List<List<String>> extras;
  private @Nullable Integer group;
  private @Nullable String cacheKind;

  /** Creates a decoder. */
  public KvEventDecoder() {}

  /**
   * Decodes a batch; returns null if the bytes are not one.
   *
   * <p>An event that cannot be read is a {@link KvEvent.Unreadable} in the batch.
   */
  public @Nullable KvEventBatch decode(byte[] payload) {
    in.reset(payload);
    try {
      KvEventBatch batch = batch();
      return in.atEnd() ? batch : null;
    } catch (MalformedException e) {
      return null;
    }
  }

  private KvEventBatch batch() throws MalformedException {
    int fields = in.array();
    if (fields < 2) {
      throw MalformedException.INSTANCE;
    }
    double epochSeconds = in.number();
    List<KvEvent> events = events(in.array());
    int rank = -1;
    if (fields > 2 && !in.nil()) {
      rank = in.uint32();
    }
    for (int i = 3; i < fields; i++) {
      in.skip();
    }
    return new KvEventBatch(epochSeconds, events, rank);
  }

  private List<KvEvent> events(int count) throws MalformedException {
    // The count is untrusted, so it does not determine the initial capacity.
    List<KvEvent> events = new ArrayList<>(Math.min(count, 16));
    for (int i = 0; i < count; i++) {
      events.add(event());
    }
    return events;
  }

  /**
   * Reads an event. If it is well-formed msgpack with invalid content, only this event is skipped.
   */
  private KvEvent event() throws MalformedException {
    int start = in.position();
    try {
      KvEvent event = in.next() == Kind.MAP ? fromMap() : fromArray();
      if (!(event instanceof KvEvent.Unreadable)) {
        return event;
      }
      in.position(start);
      in.skip();
      return event;
    } catch (MalformedException e) {
      in.position(start);
      in.skip();
      return new KvEvent.Unreadable(SkipReason.MALFORMED);
    }
  }

  /** Reads {@code [tag, field…]}. */
  private KvEvent fromArray() throws MalformedException {
    int fields = in.array() - 1;
    if (fields < 0) {
      throw MalformedException.INSTANCE;
    }
    String type = keys.read(in);
    forget();
    List<String> order = order(type);
    for (int i = 0; i < fields; i++) {
      read(i < order.size() ? order.get(i) : "");
    }
    return event(type);
  }

  private static List<String> order(String type) {
    return switch (type) {
      case STORED -> STORED_FIELDS;
      case REMOVED -> REMOVED_FIELDS;
      default -> List.of();
    };
  }

  /** Reads {@code {"type": tag, name: field…}}; the tag may come last. */
  private KvEvent fromMap() throws MalformedException {
    int pairs = in.map();
    forget();
    String type = "";
    for (int i = 0; i < pairs; i++) {
      String name = keys.read(in);
      if (name.equals(TYPE)) {
        type = keys.read(in);
      } else {
        read(name);
      }
    }
    return event(type);
  }

  private KvEvent event(String type) throws MalformedException {
    return switch (type) {
      case STORED -> stored();
      case REMOVED -> removed();
      case CLEARED_ALL -> CLEARED;
      default -> UNKNOWN;
    };
  }

  private void forget() {
    hashes = null;
    parent = null;
    tokens = null;
    blockSize = 0;
    tier = null;
    loraName = null;
    extras = null;
    group = null;
    cacheKind = null;
  }

  /** Reads a field, or skips an unknown one. */
  private void read(String field) throws MalformedException {
    switch (field) {
      case HASHES -> hashes = hashes();
      case "parent_block_hash" -> parent = in.nil() ? null : (Long) hash();
      case "token_ids" -> tokens = tokens();
      case "block_size" -> blockSize = in.uint32();
      case MEDIUM -> tier = in.nil() ? null : tiers.read(in);
      case "lora_name" -> loraName = in.nil() ? null : names.read(in);
      case "extra_keys" -> extras = in.nil() ? null : extras();
      case GROUP -> group = in.nil() ? null : (Integer) in.uint32();
      case "kv_cache_spec_kind" -> cacheKind = in.nil() ? null : names.read(in);
      default -> in.skip();
    }
  }

  private KvEvent stored() throws MalformedException {
    if (hashes == null || tokens == null || blockSize <= 0) {
      throw MalformedException.INSTANCE;
    }
    String lora = loraName == null || loraName.isEmpty() ? null : loraName;
    return new KvEvent.BlockStored(
        hashes, parent, tokens, blockSize, place(), lora, extras, cacheKind);
  }

  private KvEvent removed() throws MalformedException {
    if (hashes == null) {
      throw MalformedException.INSTANCE;
    }
    return new KvEvent.BlockRemoved(hashes, place());
  }

  private KvEvent.Place place() {
    String medium = tier == null || tier.isEmpty() ? DEFAULT_TIER : tier;
    return new KvEvent.Place(medium, group != null, group == null ? 0 : group);
  }

  private long[] hashes() throws MalformedException {
    int count = in.array();
    for (int i = 0; i < count; i++) {
      if (i == longs.length) {
        longs = Arrays.copyOf(longs, i * 2);
      }
      longs[i] = hash();
    }
    long[] read = Arrays.copyOf(longs, count);
    longs = longs.length > KEPT_SCRATCH ? new long[64] : longs;
    return read;
  }

  /** Reads a hash: a number's bits, or the last 8 bytes of a byte string. */
  private long hash() throws MalformedException {
    if (in.next() != Kind.BYTES) {
      return in.bits();
    }
    int length = in.binary();
    byte[] bytes = in.bytes();
    long value = 0;
    int end = in.position() + length;
    for (int i = Math.max(in.position(), end - Long.BYTES); i < end; i++) {
      value = (value << 8) | (bytes[i] & 0xff);
    }
    in.step(length);
    return value;
  }

  private int[] tokens() throws MalformedException {
    int count = in.array();
    for (int i = 0; i < count; i++) {
      if (i == ints.length) {
        ints = Arrays.copyOf(ints, i * 2);
      }
      ints[i] = in.uint32();
    }
    int[] read = Arrays.copyOf(ints, count);
    ints = ints.length > KEPT_SCRATCH ? new int[1024] : ints;
    return read;
  }

  /** Reads the extras of the blocks; null if no block has any. */
  private @Nullable List<List<String>> extras() throws MalformedException {
    int blocks = in.array();
    List<List<String>> all = new ArrayList<>(Math.min(blocks, 16));
    boolean any = false;
    for (int i = 0; i < blocks; i++) {
      List<String> one = in.nil() ? Collections.emptyList() : extrasOfBlock();
      any |= !one.isEmpty();
      all.add(one);
    }
    return any ? all : null;
  }

  private List<String> extrasOfBlock() throws MalformedException {
    int count = in.array();
    if (count > MAX_EXTRAS_PER_BLOCK) {
      throw MalformedException.INSTANCE;
    }
    List<String> texts = new ArrayList<>(Math.min(count, 4));
    for (int i = 0; i < count; i++) {
      String text = extra();
      if (text != null) {
        texts.add(text);
      }
    }
    return texts;
  }

  /**
   * Reads an extra: a text, such as a salt or a LoRA name, or an array that begins with a text,
   * such as an image's hash and position. Returns the text, or null for anything else.
   */
  private @Nullable String extra() throws MalformedException {
    Kind kind = in.next();
    if (kind == Kind.TEXT) {
      return names.read(in);
    }
    if (kind != Kind.ARRAY) {
      in.skip();
      return null;
    }
    int left = in.array();
    String text = null;
    if (left > 0 && in.next() == Kind.TEXT) {
      text = names.read(in);
      left--;
    }
    for (int i = 0; i < left; i++) {
      in.skip();
    }
    return text;
  }
}
