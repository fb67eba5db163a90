package io.inferspan.samples.quickstart;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.EppSpans;
import io.inferspan.samples.quickstart.PrefixScorer.Match;
import io.inferspan.semconv.EppAttributes;
import java.net.http.HttpRequest;

/** Decides whether a prompt is worth a prefill on another pod, and tells the proxy by header. */
final class PdDecision {

  /** The header that names the prefill pod, {@code host:port}. */
  static final String PREFILL_HEADER = "x-prefiller-host-port";

  /** Prompt bytes that no cache holds, from which the transfer of their KV blocks pays off. */
  static final int THRESHOLD_BYTES = 1024;

  private final Telemetry telemetry;
  private final String prefillHost;
  private final String prefillPort;

  PdDecision(Telemetry telemetry, String prefillAuthority) {
    this.telemetry = telemetry;
    int colon = prefillAuthority.lastIndexOf(':');
    this.prefillHost = prefillAuthority.substring(0, colon);
    this.prefillPort = prefillAuthority.substring(colon + 1);
  }

  /** Whether to prefill elsewhere. */
  boolean isDisaggregated(OperationSpan request, int promptBytes, Match match) {
    long nonCachedBytes = promptBytes - match.cachedBytes();
    boolean disaggregated = nonCachedBytes >= THRESHOLD_BYTES;
    telemetry
        .span(EppSpans.PROFILE_HANDLER, request)
        .set(EppAttributes.PD_THRESHOLD, THRESHOLD_BYTES)
        .set(EppAttributes.USER_INPUT_BYTES, promptBytes)
        .start()
        .set(EppAttributes.CACHE_HITS, match.hits())
        .set(EppAttributes.CACHE_HIT_RATIO, (double) match.cachedBytes() / Math.max(1, promptBytes))
        .set(EppAttributes.NON_CACHED_BYTES, nonCachedBytes)
        .set(EppAttributes.DECISION, disaggregated ? "prefill_decode" : "decode_only")
        .set(EppAttributes.DECISION_REASON, reason(promptBytes, disaggregated))
        .close();
    return disaggregated;
  }

  private static String reason(int promptBytes, boolean disaggregated) {
    if (disaggregated) {
      return "non_cached_bytes_reach_threshold";
    }
    return promptBytes < THRESHOLD_BYTES ? "input_below_threshold" : "mostly_cached";
  }

  /** Sets the header on the call to the proxy, or leaves it out. */
  void prepare(OperationSpan request, boolean disaggregated, HttpRequest.Builder call) {
    try (OperationSpan span =
        telemetry
            .span(EppSpans.PREREQUEST, request)
            .set(EppAttributes.PD_USED, disaggregated)
            .start()) {
      if (disaggregated) {
        call.setHeader(PREFILL_HEADER, prefillHost + ":" + prefillPort);
        span.set(EppAttributes.PREFILL_POD_ADDRESS, prefillHost)
            .set(EppAttributes.PREFILL_POD_PORT, prefillPort);
      } else {
        span.set(EppAttributes.PD_REASON, "no_prefill_profile_result");
      }
    }
  }
}
