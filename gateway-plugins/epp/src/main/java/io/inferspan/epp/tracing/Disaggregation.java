package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.semconv.EppAttributes;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sets the attributes of the decisions about prefill and encode. */
final class Disaggregation {

  private static final String NO_RESULT = "scheduling_result_is_nil";

  private Disaggregation() {}

  static void describe(OperationSpan span, SchedulingResult result) {
    if (result.failure() != null) {
      span.set(EppAttributes.PD_USED, false)
          .set(EppAttributes.ENCODE_USED, false)
          .set(EppAttributes.DISAGG_REASON, NO_RESULT);
      return;
    }
    prefill(span, result);
    encode(span, result.encode());
  }

  private static void prefill(OperationSpan span, SchedulingResult result) {
    Endpoint target = result.prefillTarget();
    span.set(EppAttributes.PD_USED, target != null);
    if (target != null) {
      span.set(EppAttributes.PREFILL_POD_ADDRESS, target.address())
          .set(EppAttributes.PREFILL_POD_PORT, Integer.toString(target.port()));
    } else {
      span.set(EppAttributes.PD_REASON, missing("prefill", result.prefill()));
    }
  }

  private static void encode(OperationSpan span, @Nullable List<Endpoint> encoders) {
    if (encoders == null || encoders.isEmpty()) {
      span.set(EppAttributes.ENCODE_USED, false)
          .set(EppAttributes.ENCODE_REASON, missing("encode", encoders));
    } else {
      span.set(EppAttributes.ENCODE_USED, true)
          .set(
              EppAttributes.ENCODE_ENDPOINTS,
              encoders.stream().map(Endpoint::authority).collect(Collectors.joining(",")));
    }
  }

  private static String missing(String stage, @Nullable List<Endpoint> endpoints) {
    return endpoints == null
        ? "no_" + stage + "_profile_result"
        : "no_" + stage + "_profile_target_endpoints";
  }
}
