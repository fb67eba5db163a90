package io.inferspan.samples.desk.trace;

import io.inferspan.samples.desk.store.Decision;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.PdAttributes;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the P/D decision from the span of the endpoint picker or of the P/D proxy. */
final class DecisionReader {

  private static final String PD = "pd";
  private static final String DECODE = "decode";

  private DecisionReader() {}

  /** Returns the decision, or null if the trace has none. */
  static @Nullable Decision read(RequestPath path) {
    Node decided = path.decision();
    Boolean used = disaggregated(path);
    if (decided == null && used == null) {
      return null;
    }
    String reported = decided == null ? null : decided.detail().text(EppAttributes.DECISION);
    String route = used == null ? route(reported) : used ? PD : DECODE;
    return new Decision(
        route,
        reported == null ? route : reported,
        reason(path),
        inputs(decided),
        Pod.ofPrefill(path),
        Pod.ofDecode(path));
  }

  /**
   * Returns whether prefill ran on another pod. The proxy's span takes precedence over the
   * picker's.
   */
  private static @Nullable Boolean disaggregated(RequestPath path) {
    Node proxy = path.proxy();
    if (proxy != null
        && proxy.detail().value(PdAttributes.DISAGGREGATION_USED) instanceof Boolean used) {
      return used;
    }
    Node preRequest = path.preRequest();
    Object used = preRequest == null ? null : preRequest.detail().value(EppAttributes.PD_USED);
    return used instanceof Boolean is ? is : null;
  }

  private static String route(@Nullable String decision) {
    if (decision == null) {
      return DECODE;
    }
    String words = decision.toLowerCase(Locale.ROOT);
    boolean decode = words.contains("decode");
    if (decode && words.contains("prefill")) {
      return PD;
    }
    return decode ? DECODE : decision;
  }

  private static @Nullable String reason(RequestPath path) {
    Node decided = path.decision();
    String reason = decided == null ? null : decided.detail().text(EppAttributes.DECISION_REASON);
    Node preRequest = path.preRequest();
    if (reason == null && preRequest != null) {
      reason = preRequest.detail().text(EppAttributes.PD_REASON);
    }
    Node proxy = path.proxy();
    return reason == null && proxy != null ? proxy.detail().text(PdAttributes.REASON) : reason;
  }

  private static Decision.Inputs inputs(@Nullable Node decided) {
    return decided == null
        ? new Decision.Inputs(null, null, null)
        : new Decision.Inputs(
            decided.detail().count(EppAttributes.PD_THRESHOLD),
            decided.detail().count(EppAttributes.NON_CACHED_BYTES),
            decided.detail().count(EppAttributes.USER_INPUT_BYTES));
  }
}
