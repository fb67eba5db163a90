package io.inferspan.samples.desk.trace;

import io.inferspan.catalog.BatchSpans;
import io.inferspan.catalog.Component;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanCatalog;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.samples.desk.otlp.StoredSpan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds the type of a span in the catalogue, by its name in any naming scheme. */
final class SpanTypes {

  /** Types whose span names consist of a prefix that no other type has, and a variable suffix. */
  private static final Set<SpanType> UNIQUE_PREFIX =
      Set.of(EppSpans.SCORER, EppSpans.TOKENIZE, PdSpans.SERVER);

  private static final Map<String, SpanType> BY_NAME = new HashMap<>();
  private static final List<SpanType> WITH_SUFFIX = new ArrayList<>();

  static {
    for (SpanType type : SpanCatalog.all()) {
      if (!type.parameter().isEmpty()) {
        WITH_SUFFIX.add(type);
        continue;
      }
      for (SpanNaming naming : SpanNaming.values()) {
        BY_NAME.put(type.name(naming), type);
      }
    }
  }

  private SpanTypes() {}

  /** Returns the type, or null if the span is not in the catalogue. */
  static @Nullable SpanType of(StoredSpan span) {
    SpanType exact = BY_NAME.get(span.name());
    if (exact != null) {
      return isPlain(span.name()) && !hasScopeOf(exact, span) ? null : exact;
    }
    for (SpanType type : WITH_SUFFIX) {
      if (span.name().startsWith(type.name(SpanNaming.PROPOSAL))
          && (UNIQUE_PREFIX.contains(type) || hasScopeOf(type, span))) {
        return type;
      }
    }
    return null;
  }

  /** Returns whether the eBPF bridge records spans of this type. */
  static boolean isKernel(@Nullable SpanType type) {
    return type != null && type.component() == Component.KERNEL;
  }

  /** Returns whether the type is an engine step, which belongs to several requests. */
  static boolean isStep(@Nullable SpanType type) {
    return type == BatchSpans.STEP || type == BatchSpans.STEP_MEMBERS;
  }

  /** Returns whether the type is a phase of a request in the engine: queue, prefill or decode. */
  static boolean isPhase(@Nullable SpanType type) {
    return type == BatchSpans.QUEUE || type == BatchSpans.PREFILL || type == BatchSpans.DECODE;
  }

  /** Returns whether other applications may use the same name, such as {@code request}. */
  private static boolean isPlain(String name) {
    return name.indexOf('.') < 0 && name.indexOf('_') < 0;
  }

  private static boolean hasScopeOf(SpanType type, StoredSpan span) {
    String scope = span.origin().scope();
    for (SpanNaming naming : SpanNaming.values()) {
      if (type.component().scope(naming).equals(scope)) {
        return true;
      }
    }
    return false;
  }
}
