package io.inferspan.kvcache.events;

import io.inferspan.kvcache.events.MsgpackReader.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decodes batches of events from vLLM and SGLang.
 *
 * <p>It accepts arrays and maps, hashes as numbers and as bytes, and events without trailing
 * fields. The result is never larger than a small multiple of the input. Not thread-safe.
 */
public final class KvEventDecoder {

  /** The fields of all events; an event type defines the order of an array's fields. */
  private enum Field {
    HASHES("block_hashes"),
    PARENT("parent_block_hash"),
    TOKENS("token_ids"),
    BLOCK_SIZE("block_size"),
    LORA_ID("lora_id"),
    MEDIUM("medium"),
    LORA_NAME("lora_name"),
    EXTRAS("extra_keys"),
    GROUP("group_idx"),
    CACHE_KIND("kv_cache_spec_kind");

    private final String text;

    Field(String text) {
      this.text = text;
    }
  }

  /** The event types, with the fields of their arrays and how many must be there. */
  private enum Type {
    BLOCK_STORED("BlockStored", 4, Field.values()),
    BLOCK_REMOVED("BlockRemoved", 1, Field.HASHES, Field.MEDIUM, Field.GROUP),
    ALL_BLOCKS_CLEARED("AllBlocksCleared", 0),
    UNKNOWN("", 0);

    private final String text;
    private final int least;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final Field[] order;

    Type(String text, int least, Field... order) {
      this.text = text;
      this.least = least;
      this.order = order;
    }
  }

  private static final Field[] STORED = Field.values();
  private static final byte[][] FIELDS = names(STORED, field -> field.text);
  private static final Type[] TYPES = Type.values();
  private static final byte[][] TAGS = names(TYPES, type -> type.text);
  private static final Set<Field> LEAST_STORED =
      EnumSet.of(Field.HASHES, Field.TOKENS, Field.BLOCK_SIZE);

  private static final byte[] TYPE_KEY = Texts.ascii("type");
  private static final KvEvent.AllBlocksCleared CLEARED = new KvEvent.AllBlocksCleared();
  private static final KvEvent.Unreadable UNKNOWN = new KvEvent.Unreadable(SkipReason.UNKNOWN_TYPE);

  private static final int MAX_EXTRAS_PER_BLOCK = 1024;
  private static final int KEPT_SCRATCH = 1 << 16;
  private static final String DEFAULT_TIER = "gpu";

  private final MsgpackReader in = new MsgpackReader();
  private final Texts tiers = new Texts(64, true);
  private final Texts names = new Texts(1024, false);

  private long[] longs = new long[64];
  private int[] ints = new int[1024];
  private final Set<Field> seen = EnumSet.noneOf(Field.class);
  private long[] hashes = {};
  private @Nullable Long parent;
  private int[] tokens = {};
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

  /** Reads an event; a well-formed event with wrong content is skipped alone. */
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
    Type type = type();
    if (type != Type.UNKNOWN) {
      inOrder(type, fields);
    }
    return event(type);
  }

  private void inOrder(Type type, int fields) throws MalformedException {
    if (fields < type.least) {
      throw MalformedException.INSTANCE;
    }
    forget();
    for (int i = 0; i < fields; i++) {
      if (i < type.order.length) {
        read(type.order[i]);
      } else {
        in.skip();
      }
    }
  }

  /** Reads {@code {"type": tag, name: field…}}; the tag may come last. */
  private KvEvent fromMap() throws MalformedException {
    int pairs = in.map();
    forget();
    Type type = Type.UNKNOWN;
    for (int i = 0; i < pairs; i++) {
      int length = in.text();
      if (is(TYPE_KEY, length)) {
        in.step(length);
        type = type();
        continue;
      }
      int field = indexIn(FIELDS, length);
      in.step(length);
      if (field < 0) {
        in.skip();
      } else {
        read(STORED[field]);
      }
    }
    return event(type);
  }

  private KvEvent event(Type type) throws MalformedException {
    return switch (type) {
      case BLOCK_STORED -> stored();
      case BLOCK_REMOVED -> removed();
      case ALL_BLOCKS_CLEARED -> CLEARED;
      case UNKNOWN -> UNKNOWN;
    };
  }

  private Type type() throws MalformedException {
    int length = in.text();
    int known = indexIn(TAGS, length);
    in.step(length);
    return known < 0 ? Type.UNKNOWN : TYPES[known];
  }

  /** Returns the index of the name that the next text equals, or -1. */
  private int indexIn(byte[][] names, int length) {
    for (int i = 0; i < names.length; i++) {
      if (is(names[i], length)) {
        return i;
      }
    }
    return -1;
  }

  private boolean is(byte[] name, int length) {
    int at = in.position();
    return length == name.length
        && Arrays.equals(in.bytes(), at, at + length, name, 0, name.length);
  }

  private static <E> byte[][] names(E[] values, Function<E, String> name) {
    return Arrays.stream(values).map(name).map(Texts::ascii).toArray(byte[][]::new);
  }

  private void forget() {
    seen.clear();
    parent = null;
    tier = null;
    loraName = null;
    extras = null;
    group = null;
    cacheKind = null;
  }

  private void read(Field field) throws MalformedException {
    seen.add(field);
    switch (field) {
      case HASHES -> hashes = hashes();
      case PARENT -> parent = in.nil() ? null : (Long) hash();
      case TOKENS -> tokens = tokens();
      case BLOCK_SIZE -> blockSize = in.uint32();
      case LORA_ID -> in.skip();
      case MEDIUM -> tier = in.nil() ? null : tiers.read(in);
      case LORA_NAME -> loraName = in.nil() ? null : names.read(in);
      case EXTRAS -> extras = in.nil() ? null : extras();
      case GROUP -> group = in.nil() ? null : (Integer) in.uint32();
      case CACHE_KIND -> cacheKind = in.nil() ? null : names.read(in);
    }
  }

  private KvEvent stored() throws MalformedException {
    if (!seen.containsAll(LEAST_STORED) || blockSize <= 0) {
      throw MalformedException.INSTANCE;
    }
    String lora = loraName == null || loraName.isEmpty() ? null : loraName;
    return new KvEvent.BlockStored(
        hashes, parent, tokens, blockSize, place(), lora, extras, cacheKind);
  }

  private KvEvent removed() throws MalformedException {
    if (!seen.contains(Field.HASHES)) {
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

  /** Reads an image's hash, with or without its position, or a salt; null for anything else. */
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
