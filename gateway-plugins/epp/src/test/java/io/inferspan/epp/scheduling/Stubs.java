package io.inferspan.epp.scheduling;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Filter;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.Picker;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.Scorer;
import io.inferspan.epp.Scores;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.tracing.EppTracing;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Plugins with behaviour set by a test. */
final class Stubs {

  private static final InferenceRequest REQUEST = InferenceRequest.to("m").id("r").build();

  private Stubs() {}

  /** Records spans under the names that llm-d has now. */
  static EppTracing currentNames(TracingExtension tracing) {
    return EppTracing.create(
        Telemetry.using(
            tracing.openTelemetry(),
            TelemetryOptions.builder().spanNaming(SpanNaming.CURRENT).build()));
  }

  /** The profile {@code p}, which picks the endpoint with the best score. */
  static SchedulerProfile scoring(Scorer... scorers) {
    SchedulerProfile.Builder profile = SchedulerProfile.named("p");
    for (Scorer scorer : scorers) {
      profile.scorer(scorer);
    }
    return profile.picker(new MaxScorePicker());
  }

  /** A scheduler of this profile alone. */
  static Scheduler.Builder single(EppTracing tracing, SchedulerProfile profile) {
    return Scheduler.builder(new SingleProfileHandler()).tracing(tracing).profile(profile);
  }

  /** The answer of a scheduler for three pods, which may take a while. */
  static CompletableFuture<SchedulingResult> scheduling(Scheduler scheduler) {
    return scheduler.schedule(REQUEST, Fleet.pods(3), Context.root()).toCompletableFuture();
  }

  static SchedulingResult scheduled(Scheduler scheduler) {
    return scheduling(scheduler).orTimeout(20, TimeUnit.SECONDS).join();
  }

  /** A scorer that gives these scores at once. */
  static Scorer giving(String type, double... scores) {
    return scorer(
        type,
        into -> {
          for (int i = 0; i < scores.length; i++) {
            into.set(i, scores[i]);
          }
          return into.done();
        });
  }

  static Scorer scorer(String type, Function<Scores, CompletionStage<Scores>> answer) {
    return new Scorer() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public CompletionStage<Scores> score(
          Cycle cycle, List<Endpoint> endpoints, Scores into, Context context) {
        return answer.apply(into);
      }
    };
  }

  static Filter filter(UnaryOperator<List<Endpoint>> filter) {
    return new Filter() {
      @Override
      public String type() {
        return "some-filter";
      }

      @Override
      public List<Endpoint> filter(Cycle cycle, List<Endpoint> endpoints, Context context) {
        return filter.apply(endpoints);
      }
    };
  }

  static Picker brokenPicker() {
    return new Picker() {
      @Override
      public String type() {
        return "broken";
      }

      @Override
      public List<Endpoint> pick(
          Cycle cycle, List<Endpoint> endpoints, Scores scores, Context context) {
        throw new IllegalStateException();
      }
    };
  }

  static PreRequest preRequest(Consumer<PreRequest.Headers> action) {
    return new PreRequest() {
      @Override
      public String type() {
        return "some-pre-request";
      }

      @Override
      public void prepare(SchedulingResult result, Headers headers) {
        action.accept(headers);
      }
    };
  }

  /** A handler that wants the profile {@code p} for ever. */
  static ProfileHandler greedyHandler() {
    return handler(
        ProfileHandler.Shape.PREFILL_DECODE, () -> ProfileHandler.Pick.run("p", "again"));
  }

  /** A handler that answers with null, as one without null checks may. */
  @SuppressWarnings("NullAway")
  static ProfileHandler nullHandler(ProfileHandler.Shape shape) {
    return handler(shape, () -> null);
  }

  private static ProfileHandler handler(
      ProfileHandler.Shape shape, Supplier<ProfileHandler.Pick> pick) {
    return new ProfileHandler() {
      @Override
      public String type() {
        return "stub";
      }

      @Override
      public Shape shape() {
        return shape;
      }

      @Override
      public Pick pick(
          Cycle cycle, Set<String> profiles, Map<String, List<Endpoint>> results, Context context) {
        return pick.get();
      }

      @Override
      public SchedulingResult conclude(Cycle cycle, Map<String, List<Endpoint>> results) {
        return SchedulingResult.to(cycle, results.getOrDefault("p", List.of()));
      }
    };
  }
}
