package io.inferspan.samples.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.plugins.disagg.ByteThresholdDecider;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.disagg.DisaggProfileHandler;
import io.inferspan.epp.plugins.disagg.PdProfileHandler;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.disagg.TokenThresholdDecider;
import io.inferspan.epp.plugins.filter.RoleFilter;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.ApproximatePrefixCacheScorer;
import io.inferspan.epp.plugins.score.LoadScorers;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.opentelemetry.context.Context;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Picks the engines for a request. */
final class Routing {

  private static final int BYTES_PER_TOKEN = 4;

  private final Fleet fleet;
  private final Scheduler scheduler;

  Routing(Fleet fleet, Scheduler scheduler) {
    this.fleet = fleet;
    this.scheduler = scheduler;
  }

  /** Returns the default scheduler. */
  static Scheduler scheduler(
      GatewayConfig config, @Nullable KvIndex index, @Nullable Telemetry telemetry) {
    // The span names select the handlers of llm-d's tracing proposal or those of its releases.
    boolean usesProposalNames = telemetry == null || telemetry.spanNaming() == SpanNaming.PROPOSAL;
    ApproximatePrefixCacheScorer approximate = new ApproximatePrefixCacheScorer();
    Scorer prefixes = index == null ? approximate : new PrecisePrefixCacheScorer(index.hits());
    Scheduler.Builder builder =
        config.prefill().isEmpty()
            ? Scheduler.builder(new SingleProfileHandler())
            : Scheduler.builder(
                    usesProposalNames
                        ? new PdProfileHandler(
                            new ByteThresholdDecider(config.prefillThresholdBytes()))
                        : DisaggProfileHandler.builder()
                            .prefillDecider(
                                new TokenThresholdDecider(
                                    Math.max(1, config.prefillThresholdBytes() / BYTES_PER_TOKEN)))
                            .build())
                .profile(
                    SchedulerProfile.named("prefill")
                        .filter(RoleFilter.prefill())
                        .scorer(prefixes, 3)
                        .scorer(LoadScorers.activeRequests(), 2)
                        .picker(new MaxScorePicker()));
    if (index == null) {
      builder.preRequest(approximate);
    }
    return builder
        .profile(
            SchedulerProfile.named("decode")
                .filter(RoleFilter.decode())
                .scorer(prefixes, 3)
                .scorer(LoadScorers.activeRequests(), 2)
                .picker(new MaxScorePicker(1 + config.retries())))
        .preRequest(new DisaggHeaders())
        .tracing(telemetry == null ? EppTracing.none() : EppTracing.create(telemetry))
        .build();
  }

  /** Picks engines and sets the routing headers. */
  CompletionStage<SchedulingResult> route(
      InferenceRequest request, PreRequest.Headers headers, RequestTrace trace) {
    OperationSpan span = trace.orchestration(request.model());
    return pick(request, headers, span == null ? Context.root() : span.context())
        .whenComplete((result, failure) -> close(span, result));
  }

  private static void close(@Nullable OperationSpan span, @Nullable SchedulingResult result) {
    if (span == null) {
      return;
    }
    if (result == null || result.failure() != null) {
      span.fail("no_endpoint", "no endpoint can serve");
    }
    span.close();
  }

  private CompletionStage<SchedulingResult> pick(
      InferenceRequest request, PreRequest.Headers headers, Context context) {
    return scheduler
        .schedule(request, fleet.endpoints(), context)
        .thenApply(
            result -> {
              if (result.failure() == null) {
                scheduler.prepare(result, headers);
              }
              return result;
            });
  }
}
