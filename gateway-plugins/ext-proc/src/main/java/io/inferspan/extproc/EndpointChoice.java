package io.inferspan.extproc;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Tokenizer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.extproc.wire.HeaderList;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Picks an endpoint for a request from the available endpoints that Envoy allows. */
final class EndpointChoice {

  private final Scheduler scheduler;
  private final Supplier<List<Endpoint>> endpoints;
  private final Admission admission;
  private final @Nullable Tokenizer tokenizer;

  EndpointChoice(
      Scheduler scheduler,
      Supplier<List<Endpoint>> endpoints,
      Admission admission,
      @Nullable Tokenizer tokenizer) {
    this.scheduler = scheduler;
    this.endpoints = endpoints;
    this.admission = admission;
    this.tokenizer = tokenizer;
  }

  /** The properties of a request for which an endpoint is chosen. */
  record Request(String id, HeaderList headers, @Nullable List<String> subset, TargetModel model) {}

  /** The destination of the request, or its error response; exactly one is not null. */
  record Verdict(@Nullable SchedulingResult result, @Nullable Refusal refusal) {}

  Scheduler scheduler() {
    return scheduler;
  }

  /** Returns whether the list of endpoints is known, even if it is empty. */
  boolean isPossible() {
    try {
      return endpoints.get() != null;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** Chooses an endpoint; the stage never fails. */
  CompletionStage<Verdict> choose(Request request, Context context) {
    try {
      return choose(request, inference(request), context);
    } catch (RuntimeException e) {
      // The user's endpoint supplier or admission threw an exception.
      return refused(Refusal.NO_ENDPOINT);
    }
  }

  private CompletionStage<Verdict> choose(
      Request request, InferenceRequest inference, Context context) {
    List<Endpoint> candidates = allowed(endpoints.get(), request.subset());
    Admission.Rejection rejection = admission.reject(inference, candidates);
    if (rejection != null) {
      return refused(Refusal.rejected(rejection));
    }
    return scheduler.schedule(inference, candidates, context).thenApply(EndpointChoice::verdict);
  }

  private static CompletionStage<Verdict> refused(Refusal refusal) {
    return CompletableFuture.completedFuture(new Verdict(null, refusal));
  }

  private static Verdict verdict(SchedulingResult result) {
    return result.target() == null
        ? new Verdict(null, Refusal.NO_ENDPOINT)
        : new Verdict(result, null);
  }

  private InferenceRequest inference(Request request) {
    ChatBody body = request.model().body();
    InferenceRequest.Builder inference =
        InferenceRequest.to(request.model().name())
            .id(request.id())
            .headers(request.headers().toMap())
            .streaming(body.streaming());
    byte[] input = body.input();
    if (input != null) {
      inference.input(input);
    }
    Tokenizer tokens = tokenizer;
    return (tokens == null ? inference : inference.tokenizedBy(tokens)).build();
  }

  /**
   * Returns the endpoints that Envoy's subset hint allows. The hint names hosts, with or without
   * ports.
   */
  private static List<Endpoint> allowed(List<Endpoint> all, @Nullable List<String> subset) {
    if (subset == null) {
      return all;
    }
    return all.stream()
        .filter(each -> subset.contains(each.authority()) || subset.contains(each.address()))
        .toList();
  }
}
