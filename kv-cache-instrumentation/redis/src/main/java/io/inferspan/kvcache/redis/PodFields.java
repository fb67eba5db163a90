package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.kvcache.index.PodEntry;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.redis.client.Response;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes holders as fields of a Redis hash: compact JSON in Go's member order.
 *
 * <p>A fleet has few distinct fields and a lookup reads thousands, so parsed fields are cached. Not
 * thread-safe: each event loop has its own.
 */
final class PodFields {

  /** The maximum number of cached fields. The cache is cleared when it is full. */
  static final int REMEMBERED = 8_192;

  /** The maximum length of a field in bytes; longer fields count as unreadable. */
  static final int LONGEST = 2_048;

  /** Go escapes characters that are special in HTML and JavaScript. */
  private static final String SPECIAL = "<>&\u2028\u2029";

  private static final Known UNREADABLE = new Known(null);

  private final Map<String, Known> remembered = new HashMap<>();
  private final RedisIndexCounts counts;

  private record Known(@Nullable PodEntry holder) {}

  PodFields(RedisIndexCounts counts) {
    this.counts = counts;
  }

  /** Returns the field of a holder, byte for byte as llm-d writes it. */
  static byte[] bytesOf(PodEntry holder) {
    StringBuilder out = new StringBuilder(128).append("{\"PodIdentifier\":");
    quote(out, holder.pod());
    out.append(",\"DeviceTier\":");
    quote(out, holder.tier());
    out.append(",\"Speculative\":").append(holder.speculative());
    out.append(",\"HasGroup\":").append(holder.grouped());
    out.append(",\"GroupIdx\":").append(holder.group()).append('}');
    return out.toString().getBytes(UTF_8);
  }

  /** Quotes text as Go's {@code encoding/json} does, since holders are compared byte for byte. */
  private static void quote(StringBuilder out, String text) {
    out.append('"');
    text.codePoints().forEach(point -> quote(out, point));
    out.append('"');
  }

  private static void quote(StringBuilder out, int point) {
    switch (point) {
      case '"', '\\' -> out.append('\\').appendCodePoint(point);
      case '\b' -> out.append("\\b");
      case '\f' -> out.append("\\f");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        if (point < ' ' || SPECIAL.indexOf(point) >= 0) {
          out.append("\\u").append(HexFormat.of().toHexDigits((short) point));
        } else if (point <= Character.MAX_VALUE && Character.isSurrogate((char) point)) {
          // Go replaces an unpaired surrogate with the replacement character.
          out.append("\\ufffd");
        } else {
          out.appendCodePoint(point);
        }
      }
    }
  }

  /** Loads the parser's classes now rather than during the first lookup on an event loop. */
  static void warmUp() {
    Known unused = parse(new String(bytesOf(PodEntry.of("pod", "gpu")), UTF_8));
  }

  /**
   * Returns the holder that a field describes; counts the field and returns null if it is
   * unreadable.
   */
  @Nullable PodEntry read(@Nullable Response field) {
    PodEntry holder = field == null ? null : knownOf(field).holder();
    if (holder == null) {
      counts.increment(RedisIndexCount.UNREADABLE_FIELDS);
    }
    return holder;
  }

  private Known knownOf(Response field) {
    // As a key for the cache, one character per byte is cheap to create and loses nothing.
    String bytes = field.toString(ISO_8859_1);
    Known known = remembered.get(bytes);
    if (known != null) {
      return known;
    }
    if (bytes.length() > LONGEST) {
      return UNREADABLE;
    }
    Known parsed = parse(new String(bytes.getBytes(ISO_8859_1), UTF_8));
    if (remembered.size() >= REMEMBERED) {
      remembered.clear();
    }
    remembered.put(bytes, parsed);
    return parsed;
  }

  int remembered() {
    return remembered.size();
  }

  private static Known parse(String text) {
    try {
      JsonObject members = new JsonObject(text);
      // The JSON text null gives an object without a map.
      return members.getMap() == null ? UNREADABLE : parse(members);
    } catch (DecodeException | ClassCastException e) {
      return UNREADABLE;
    }
  }

  /**
   * Parses like Go's {@code encoding/json}: ignores the case of names and unknown members, and
   * treats missing or null members as empty.
   */
  private static Known parse(JsonObject members) {
    String pod = "";
    String tier = "";
    boolean speculative = false;
    boolean grouped = false;
    int group = 0;
    for (Map.Entry<String, Object> member : members) {
      Object value = member.getValue();
      if (value == null) {
        continue;
      }
      switch (member.getKey().toLowerCase(Locale.ROOT)) {
        case "podidentifier" -> pod = (String) value;
        case "devicetier" -> tier = (String) value;
        case "speculative" -> speculative = (Boolean) value;
        case "hasgroup" -> grouped = (Boolean) value;
        case "groupidx" -> group = (Integer) value;
        default -> {
          // A later version may add members.
        }
      }
    }
    return pod.isEmpty()
        ? UNREADABLE
        : new Known(new PodEntry(pod, tier, speculative, grouped, group));
  }
}
