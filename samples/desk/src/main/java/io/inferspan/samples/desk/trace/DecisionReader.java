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
  static @Nullable Decision read(RequestPath way) {
    Node decided = way.decision();
    Boolean used = disaggregated(way);
    if (decided == null && used == null) {
      return null;
    }
    String said = decided == null ? null : decided.detail().text(EppAttributes.DECISION);
    String route = used == null ? route(said) : used ? PD : DECODE;
    return new Decision(
        route,
        said == null ? route : said,
        reason(way),
        grounds(decided),
        Pod.ofPrefill(way),
        Pod.ofDecode(way));
  }

  /**
   * Returns whether prefill ran on another pod. The proxy's span takes precedence over the
   * picker's.
   */
  private static @Nullable Boolean disaggregated(RequestPath way) {
    Node proxy = way.proxy();
    if (proxy != null
        && proxy.detail().value(PdAttributes.DISAGGREGATION_USED) instanceof Boolean used) {
      return used;
    }
    Node before = way.preRequest();
    Object used = before == null ? null : before.detail().value(EppAttributes.PD_USED);
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

  private static @Nullable String reason(RequestPath way) {
    Node decided = way.decision();
    String reason = decided == null ? null : decided.detail().text(EppAttributes.DECISION_REASON);
    Node before = way.preRequest();
    if (reason == null && before != null) {
      reason = before.detail().text(EppAttributes.PD_REASON);
    }
    Node proxy = way.proxy();
    return reason == null && proxy != null ? proxy.detail().text(PdAttributes.REASON) : reason;
  }

  private static Decision.Grounds grounds(@Nullable Node decided) {
    return decided == null
        ? new Decision.Grounds(null, null, null)
        : new Decision.Grounds(
            decided.detail().count(EppAttributes.PD_THRESHOLD),
            decided.detail().count(EppAttributes.NON_CACHED_BYTES),
            decided.detail().count(EppAttributes.USER_INPUT_BYTES));
  }
}
