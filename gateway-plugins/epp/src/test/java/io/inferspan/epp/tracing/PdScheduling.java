package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.plugins.filter.RoleFilter;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.LoadScorers;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.epp.plugins.score.PrefixHits;
import io.inferspan.epp.plugins.score.SessionAffinityScorer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A fleet of two decoders and two prefillers, and the scheduling of a request to it. */
final class PdScheduling {

  private final Telemetry telemetry;
  private final Scheduler scheduler;

  PdScheduling(OpenTelemetry openTelemetry, SpanNaming naming, ProfileHandler handler) {
    this.telemetry =
        Telemetry.using(openTelemetry, TelemetryOptions.builder().spanNaming(naming).build());
    this.scheduler =
        Scheduler.builder(handler)
            .profile(profile("decode", RoleFilter.decode()))
            .profile(profile("prefill", RoleFilter.prefill()))
            .preRequest(SessionAffinityScorer.bySessionId("x-session-id", 10))
            .preRequest(new DisaggHeaders())
            .tracing(EppTracing.create(telemetry))
            .build();
  }

  private SchedulerProfile profile(String name, RoleFilter filter) {
    return SchedulerProfile.named(name)
        .filter(filter)
        .scorer(new PrecisePrefixCacheScorer(index()), 3)
        .scorer(LoadScorers.queue(), 2)
        .scorer(SessionAffinityScorer.byToken())
        .picker(new MaxScorePicker());
  }

  /** An index that records a span, in which the first pod holds two blocks. */
  private PrefixHits index() {
    return (tokens, model, pods, context) -> {
      telemetry.span(KvCacheSpans.GET_SCORES, context).start().close();
      Map<String, Double> found = new HashMap<>(Map.of("10.0.0.1:8000", 2.0));
      found.keySet().retainAll(pods);
      return CompletableFuture.completedFuture(found);
    };
  }

  /** Schedules a request under a span for it; the headers are those that leave. */
  Map<String, String> schedule(InferenceRequest request) {
    try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start()) {
      SchedulingResult result =
          scheduler.schedule(request, fleet(), span.context()).toCompletableFuture().join();
      Map<String, String> headers = new HashMap<>();
      scheduler.prepare(result, PreRequest.Headers.of(headers));
      return headers;
    }
  }

  private static List<Endpoint> fleet() {
    return List.of(
        Fleet.pod(0, "decode").withMetrics(new Endpoint.Metrics(4, 0, 0, 0, 0)),
        Fleet.pod(1, "decode"),
        Fleet.pod(2, "prefill"),
        Fleet.pod(3, "prefill").withMetrics(new Endpoint.Metrics(1, 0, 0, 0, 0)));
  }
}
