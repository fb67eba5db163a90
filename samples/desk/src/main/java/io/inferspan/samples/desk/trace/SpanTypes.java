package io.inferspan.samples.desk.trace;

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

/** Which kind of span of the catalogue a span is, whatever generation named it. */
final class SpanTypes {

  /** Kinds that take a detail, and whose beginning nobody else uses. */
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

  /** The kind; null for a span that the catalogue does not know. */
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

  /** Whether it tells of the kernel or of a library under the engine. */
  static boolean isKernel(@Nullable SpanType type) {
    return type != null && type.component() == Component.KERNEL;
  }

  /** Any application may have a span that is called {@code request}. */
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
