package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The list of all span types, and of all their attributes. */
public final class SpanCatalog {

  /**
   * The name suffix of a folded span, which represents several calls and lasts from the start of
   * the first to the end of the last. The suffix keeps this duration out of a backend's statistics
   * of single calls.
   */
  public static final String FOLDED = " (folded)";

  private static final List<SpanType> ALL =
      Stream.of(
              GatewaySpans.ALL,
              EppSpans.ALL,
              KvCacheSpans.ALL,
              PdSpans.ALL,
              EngineSpans.ALL,
              BatchSpans.ALL,
              KernelSpans.ALL)
          .flatMap(List::stream)
          .toList();

  private SpanCatalog() {}

  /** Returns all span types, in the order in which a request passes the components. */
  public static List<SpanType> all() {
    return ALL;
  }

  /** Returns all attributes of the spans in the catalogue. */
  public static Set<Attribute<?>> attributes() {
    Set<Attribute<?>> attributes = new LinkedHashSet<>();
    attributes.add(CommonAttributes.ERROR_TYPE);
    ALL.forEach(type -> attributes.addAll(type.attributes()));
    return attributes;
  }

  /** Returns a span's name without the suffix {@link #FOLDED}. */
  public static String unfolded(String name) {
    return name.endsWith(FOLDED) ? name.substring(0, name.length() - FOLDED.length()) : name;
  }
}
