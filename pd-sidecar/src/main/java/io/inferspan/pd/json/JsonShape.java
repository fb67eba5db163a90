package io.inferspan.pd.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The members of an object that someone wants to read or change; a constant, made once. */
public final class JsonShape {
  private static final JsonShape ALL = new JsonShape(List.of());

  private final String[] names;
  private final byte[][] rawNames;

  /** Bit n: a name of n bytes exists; excludes most keys without a comparison. */
  private final long lengths;

  private JsonShape(Collection<String> wanted) {
    names = wanted.toArray(String[]::new);
    rawNames = new byte[names.length][];
    long seen = 0;
    for (int i = 0; i < names.length; i++) {
      rawNames[i] = names[i].getBytes(StandardCharsets.UTF_8);
      seen |= 1L << rawNames[i].length;
    }
    lengths = seen;
  }

  public static JsonShape of(String... names) {
    return new JsonShape(List.of(names));
  }

  public static JsonShape of(Collection<String> names) {
    return new JsonShape(names);
  }

  /** Every member, for small objects whose names are not known beforehand. */
  public static JsonShape all() {
    return ALL;
  }

  boolean contains(String name) {
    return this == ALL || Arrays.asList(names).contains(name);
  }

  /** The name that stands between these quotes if it is wanted. */
  @Nullable String match(byte[] json, int from, int to) {
    int length = to - from;
    if (this == ALL || JsonText.hasEscape(json, from, to)) {
      String name = JsonText.decode(json, from, to);
      return contains(name) ? name : null;
    }
    if ((lengths & 1L << length) == 0) {
      return null;
    }
    for (int i = 0; i < names.length; i++) {
      if (Arrays.equals(json, from, to, rawNames[i], 0, rawNames[i].length)) {
        return names[i];
      }
    }
    return null;
  }
}
