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

/** Finds the catalogue type of a span, in any generation of names. */
final class SpanTypes {

  /** Types whose names have a suffix, and whose prefix no other type shares. */
  private static final Set<SpanType> UNMISTAKABLE =
      Set.of(EppSpans.SCORER, EppSpans.TOKENIZE, PdSpans.SERVER);

  private static final Map<String, SpanType> BY_NAME = new HashMap<>();
  private static final List<SpanType> TAKING_DETAIL = new ArrayList<>();

  static {
    for (SpanType type : SpanCatalog.all()) {
      if (!type.parameter().isEmpty()) {
        TAKING_DETAIL.add(type);
        continue;
      }
      for (SpanNaming naming : SpanNaming.values()) {
        BY_NAME.put(type.name(naming), type);
      }
    }
  }

  private SpanTypes() {}

  /** The type; null if the span is not in the catalogue. */
  static @Nullable SpanType of(StoredSpan span) {
    SpanType exact = BY_NAME.get(span.name());
    if (exact != null) {
      return isPlain(span.name()) && !hasScopeOf(exact, span) ? null : exact;
    }
    for (SpanType type : TAKING_DETAIL) {
      if (span.name().startsWith(type.name(SpanNaming.PROPOSAL))
          && (UNMISTAKABLE.contains(type) || hasScopeOf(type, span))) {
        return type;
      }
    }
    return null;
  }

  /** Returns whether it is a span of the eBPF bridge. */
  static boolean isKernel(@Nullable SpanType type) {
    return type != null && type.component() == Component.KERNEL;
  }

  /** Returns whether it is a step of an engine, which belongs to several requests. */
  static boolean isStep(@Nullable SpanType type) {
    return type == BatchSpans.STEP || type == BatchSpans.STEP_MEMBERS;
  }

  /** Returns whether it is the sum of a request's part in an engine's steps. */
  static boolean isPhase(@Nullable SpanType type) {
    return type == BatchSpans.QUEUE || type == BatchSpans.PREFILL || type == BatchSpans.DECODE;
  }

  /**
   * Returns whether a name is so general that other applications use it, too, such as {@code
   * request}.
   */
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
