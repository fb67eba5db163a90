package io.inferspan.samples.desk.trace;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.PdAttributes;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names the pods that served a request.
 *
 * <p>A name consists of the engine's service name and the address that the proxy called, because
 * engines of one deployment often share a service name. A loopback address is omitted, because a
 * sidecar calls the engine in its own pod over loopback.
 */
final class Pod {

  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127\\..*|\\[::1])(:\\d+)?", Pattern.CASE_INSENSITIVE);

  private Pod() {}

  /** Returns the prefill pod, or null if no span names one. */
  static @Nullable String ofPrefill(RequestPath path) {
    String target = text(path.prefillStage(), PdAttributes.PREFILL_TARGET);
    if (target == null) {
      target = text(path.proxy(), PdAttributes.PREFILL_TARGET);
    }
    return named(path.prefillEngine(), target);
  }

  /** Returns the pod that sent the tokens, or null if no span names it. */
  static @Nullable String ofDecode(RequestPath path) {
    return named(path.answeringEngine(), text(path.decodeStage(), PdAttributes.DECODE_TARGET));
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
