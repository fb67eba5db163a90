package io.inferspan.kvcache.events;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Batches as engines write them, made by another msgpack library than the one that reads them. */
public final class EventBytes {

  static final double NOW = 1_700_000_000.25;

  private EventBytes() {}

  static byte[] batch(Object... events) {
    return pack(List.of(NOW, List.of(events)));
  }

  /** A list whose elements may be null. */
  static List<@Nullable Object> list(@Nullable Object... values) {
    return java.util.Arrays.asList(values);
  }

  static Object stored(long hash, @Nullable Long parent, int firstToken) {
    return list("BlockStored", List.of(hash), parent, tokens(firstToken, 16), 16);
  }

  static Object removed(long... hashes) {
    return list("BlockRemoved", java.util.Arrays.stream(hashes).boxed().toList());
  }

  static List<Integer> tokens(int first, int count) {
    return IntStream.range(first, first + count).boxed().toList();
  }

  /** Returns a value as msgpack: a list, map, text, number, byte string or null. */
  public static byte[] pack(@Nullable Object value) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      pack(out, value);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void pack(MessageBufferPacker out, @Nullable Object value) throws IOException {
    if (value == null) {
      out.packNil();
    } else if (value instanceof Boolean bool) {
      out.packBoolean(bool);
    } else if (value instanceof Double number) {
      out.packDouble(number);
    } else if (value instanceof Float number) {
      out.packFloat(number);
    } else if (value instanceof java.math.BigInteger big) {
      out.packBigInteger(big);
    } else if (value instanceof Number number) {
      out.packLong(number.longValue());
    } else if (value instanceof String text) {
      out.packString(text);
    } else if (value instanceof byte[] bytes) {
      out.packBinaryHeader(bytes.length).writePayload(bytes);
    } else if (value instanceof List<?> list) {
      out.packArrayHeader(list.size());
      for (Object each : list) {
        pack(out, each);
      }
    } else if (value instanceof Map<?, ?> map) {
      out.packMapHeader(map.size());
      for (Map.Entry<?, ?> each : map.entrySet()) {
        pack(out, each.getKey());
        pack(out, each.getValue());
      }
    } else {
      throw new IllegalArgumentException(value.getClass() + " is no msgpack");
    }
  }
}
