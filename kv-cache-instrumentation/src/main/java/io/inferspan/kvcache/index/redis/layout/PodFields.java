package io.inferspan.kvcache.index.redis.layout;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.kvcache.index.PodEntry;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.redis.client.Response;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Holders as fields of a hash: compact JSON in Go's member order.
 *
 * <p>A fleet has few different fields and a lookup reads thousands, so what was parsed once is
 * remembered. For one event loop only.
 */
public final class PodFields {

  /** Beyond this the memory of what was parsed starts anew. */
  static final int REMEMBERED = 8_192;

  /** No holder of ours is longer; a longer field is not even parsed. */
  static final int LONGEST = 2_048;

  private static final Known UNREADABLE = new Known(null);

  private final Map<String, Known> remembered = new HashMap<>();
  private final LongAdder unreadable;

  private record Known(@Nullable PodEntry holder) {}

  /** A memory of fields; {@code unreadable} counts those that stand for no holder. */
  public PodFields(LongAdder unreadable) {
    this.unreadable = unreadable;
  }

  /** The field that stands for a holder, byte for byte as llm-d writes it. */
  public static byte[] bytesOf(PodEntry holder) {
    StringBuilder out = new StringBuilder(128).append("{\"PodIdentifier\":");
    GoString.append(out, holder.pod());
    out.append(",\"DeviceTier\":");
    GoString.append(out, holder.tier());
    out.append(",\"Speculative\":").append(holder.speculative());
    out.append(",\"HasGroup\":").append(holder.grouped());
    out.append(",\"GroupIdx\":").append(holder.group()).append('}');
    return out.toString().getBytes(UTF_8);
  }

  /** Loads the classes of the parser here rather than in the first lookup, on an event loop. */
  public static void warmUp() {
    Known unused = parse(new String(bytesOf(PodEntry.of("pod", "gpu")), UTF_8));
  }

  /** The holder that a field stands for; null, and counted, where it is none that we can read. */
  public @Nullable PodEntry read(@Nullable Response field) {
    PodEntry holder = field == null ? null : knownOf(field).holder();
    if (holder == null) {
      unreadable.increment();
    }
    return holder;
  }

  private Known knownOf(Response field) {
    // One character per byte: a key that is cheap to make and loses nothing.
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
      // The text null makes an object without a map.
      return members.getMap() == null ? UNREADABLE : parse(members);
    } catch (DecodeException | ClassCastException e) {
      return UNREADABLE;
    }
  }

  /** As Go reads it: names in any case, what is missing or null is empty, the rest is ignored. */
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
          // A later version may say more.
        }
      }
    }
    return pod.isEmpty()
        ? UNREADABLE
        : new Known(new PodEntry(pod, tier, speculative, grouped, group));
  }
}
