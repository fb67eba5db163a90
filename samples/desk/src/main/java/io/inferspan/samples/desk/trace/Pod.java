package io.inferspan.samples.desk.trace;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.PdAttributes;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names of the pods that worked for a request.
 *
 * <p>The engine's service name and the address that the proxy called, since engines of one
 * deployment often share a name. A loopback address is left out: a sidecar calls its own pod there.
 */
final class Pod {

  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127\\..*|\\[::1])(:\\d+)?", Pattern.CASE_INSENSITIVE);

  private Pod() {}

  /** Null if no span names a prefill pod. */
  static @Nullable String ofPrefill(RequestPath way) {
    String target = text(way.prefillStage(), PdAttributes.PREFILL_TARGET);
    if (target == null) {
      target = text(way.proxy(), PdAttributes.PREFILL_TARGET);
    }
    return named(way.prefillEngine(), target);
  }

  /** Null if no span names the engine that answered. */
  static @Nullable String ofDecode(RequestPath way) {
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
