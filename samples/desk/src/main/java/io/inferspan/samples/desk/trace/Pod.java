package io.inferspan.samples.desk.trace;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.PdAttributes;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names the pod that worked for a request.
 *
 * <p>By what its engine calls itself and by the address that it was called under, as engines of one
 * deployment often share a name. On loopback an address tells nobody anything: a sidecar calls its
 * own pod there.
 */
final class Pod {

  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127\\..*|\\[::1])(:\\d+)?", Pattern.CASE_INSENSITIVE);

  private Pod() {}

  /** Null where no span tells of prefill. */
  static @Nullable String ofPrefill(RequestWay way) {
    String target = text(way.prefillStage(), PdAttributes.PREFILL_TARGET);
    if (target == null) {
      target = text(way.proxy(), PdAttributes.PREFILL_TARGET);
    }
    return named(way.prefillEngine(), target);
  }

  /** Null where no span tells who answered. */
  static @Nullable String ofDecode(RequestWay way) {
    return named(way.answeringEngine(), text(way.decodeStage(), PdAttributes.DECODE_TARGET));
  }

  private static @Nullable String text(@Nullable Node node, Attribute<String> attribute) {
    return node == null ? null : node.detail().text(attribute);
  }

  private static @Nullable String named(@Nullable Node engine, @Nullable String target) {
    if (engine == null) {
      return target;
    }
    String name = engine.span().origin().readable();
    return target == null || LOOPBACK.matcher(target).matches() ? name : name + " at " + target;
  }
}
