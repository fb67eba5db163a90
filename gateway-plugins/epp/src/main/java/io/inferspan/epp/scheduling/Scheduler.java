package io.inferspan.epp.scheduling;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.tracing.EppTracing;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Picks endpoints as llm-d does: asks the profile handler for profiles, runs them, and asks again
 * until it has no more.
 *
 * <p>A plugin that throws is recorded on its span and costs no request. Scorers that ask others are
 * waited for until the deadline of the scheduling, then count for nothing. All methods may be
 * called on an event loop.
 */
public final class Scheduler {

  private static final Duration DEFAULT_TIMEOUT = Duration.ofMillis(100);

  private final ProfileHandler handler;
  private final Map<String, ProfileRunner> profiles;
  private final List<PreRequest> preRequests;
  private final long timeoutNanos;
  private final @Nullable DecisionCounter decisions;
  private final boolean needsTokens;

  private Scheduler(Builder builder) {
    EppTracing tracing = builder.tracing;
    this.handler = tracing.traced(builder.handler);
    Map<String, ProfileRunner> runners = new LinkedHashMap<>();
    builder.profiles.forEach(
        (name, profile) -> runners.put(name, new ProfileRunner(profile, tracing)));
    this.profiles = Collections.unmodifiableMap(runners);
    this.preRequests = builder.preRequests.stream().map(tracing::traced).toList();
    this.timeoutNanos = builder.timeout.toNanos();
    MeterRegistry registry = builder.registry;
    this.decisions =
        registry == null ? null : new DecisionCounter(registry, builder.handler, builder.served);
    this.needsTokens =
        builder.profiles.values().stream()
            .flatMap(profile -> profile.scorers.stream())
            .anyMatch(each -> each.scorer().needsTokens());
  }

  /** Creates a builder for a scheduler whose profiles {@code handler} chooses. */
  public static Builder builder(ProfileHandler handler) {
    return new Builder(handler);
  }

  /**
   * Picks endpoints for a request.
   *
   * @param candidates the endpoints that there are
   * @param context the trace that the scheduling belongs to
   * @return a stage that never fails; it completes before this returns unless a scorer asks others,
   *     and then on the thread that the last answer came on, or, where one has not answered in
   *     time, on the one thread that the JDK has for timeouts: what follows must not block it
   */
  public CompletionStage<SchedulingResult> schedule(
      InferenceRequest request, List<Endpoint> candidates, Context context) {
    Cycle cycle = new Cycle(request, context, System.nanoTime() + timeoutNanos);
    return stage(cycle, List.copyOf(candidates), new LinkedHashMap<>())
        .exceptionally(failure -> SchedulingResult.failed(cycle, "scheduling failed"));
  }

  /** Returns whether a scorer needs tokens to score any endpoint. */
  public boolean needsTokens() {
    return needsTokens;
  }

  /** Lets all that want to have a last word before the request leaves. */
  public void prepare(SchedulingResult result, PreRequest.Headers headers) {
    preRequests.forEach(each -> each.prepare(result, headers));
  }

  private CompletionStage<SchedulingResult> stage(
      Cycle cycle, List<Endpoint> candidates, Map<String, List<Endpoint>> results) {
    List<ProfileRunner> chosen = choose(cycle, results);
    if (chosen.isEmpty()) {
      return CompletableFuture.completedFuture(concluded(handler.conclude(cycle, results)));
    }
    CompletionStage<Map<String, List<Endpoint>>> ran = CompletableFuture.completedFuture(results);
    for (ProfileRunner profile : chosen) {
      ran = ran.thenCompose(soFar -> run(profile, cycle, candidates, soFar));
    }
    return ran.thenCompose(all -> stage(cycle, candidates, all));
  }

  private SchedulingResult concluded(SchedulingResult result) {
    if (decisions != null) {
      decisions.count(result);
    }
    return result;
  }

  /** Returns the handler's choice; a profile runs only once, so scheduling terminates. */
  private List<ProfileRunner> choose(Cycle cycle, Map<String, List<Endpoint>> results) {
    ProfileHandler.Pick pick =
        handler.pick(
            cycle, profiles.keySet(), Collections.unmodifiableMap(results), cycle.context());
    List<ProfileRunner> chosen = new ArrayList<>();
    for (String name : pick.profiles()) {
      ProfileRunner profile = profiles.get(name);
      if (profile != null && !results.containsKey(name) && !chosen.contains(profile)) {
        chosen.add(profile);
      }
    }
    return chosen;
  }

  private static CompletionStage<Map<String, List<Endpoint>>> run(
      ProfileRunner profile,
      Cycle cycle,
      List<Endpoint> candidates,
      Map<String, List<Endpoint>> results) {
    return profile
        .run(cycle, candidates, cycle.context())
        .thenApply(
            targets -> {
              results.put(profile.name(), targets);
              return results;
            });
  }

  /** Builder for {@link Scheduler}. */
  public static final class Builder {
    private final ProfileHandler handler;
    private final Map<String, SchedulerProfile> profiles = new LinkedHashMap<>();
    private final List<PreRequest> preRequests = new ArrayList<>();
    private EppTracing tracing = EppTracing.none();
    private Duration timeout = DEFAULT_TIMEOUT;
    private @Nullable MeterRegistry registry;
    private Predicate<String> served = model -> false;

    private Builder(ProfileHandler handler) {
      this.handler = handler;
    }

    /** Adds a profile. */
    public Builder profile(SchedulerProfile profile) {
      if (profiles.putIfAbsent(profile.name, profile) != null) {
        throw new IllegalArgumentException(
            "there are two profiles of the name " + profile.name + "; each needs its own");
      }
      return this;
    }

    /** Adds what prepares requests, to be called in the order of addition. */
    public Builder preRequest(PreRequest preRequest) {
      preRequests.add(preRequest);
      return this;
    }

    /** Records spans; by default there are none. */
    public Builder tracing(EppTracing tracing) {
      this.tracing = tracing;
      return this;
    }

    /**
     * Counts decisions of handlers that have more than one stage, in llm-d's {@code
     * llm_d_epp_disagg_decision_total}; by default there is none.
     *
     * @param served whether engines serve a model of this name, and not only a client asks for it;
     *     all others are {@code other}. {@code GatewayTracing.hasServed} knows it of those that an
     *     engine has answered for, by the names that clients use; a fixed set does as well. It must
     *     not block.
     */
    public Builder meters(MeterRegistry registry, Predicate<String> served) {
      this.registry = registry;
      this.served = served;
      return this;
    }

    /** Sets how long a cycle may wait for asynchronous scorers; 100 ms by default. */
    public Builder timeout(Duration timeout) {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException(
            "the timeout of the scheduler is " + timeout + ", which is not above zero");
      }
      this.timeout = timeout;
      return this;
    }

    /** Makes the scheduler, under the span of the picker's start. */
    public Scheduler build() {
      try (OperationSpan span = tracing.startup("scheduler", "build")) {
        return made(span);
      }
    }

    private Scheduler made(OperationSpan span) {
      try {
        return made();
      } catch (RuntimeException e) {
        span.fail(e);
        throw e;
      }
    }

    private Scheduler made() {
      if (profiles.isEmpty()) {
        throw new IllegalArgumentException("the scheduler has no profile; it needs one at least");
      }
      return new Scheduler(this);
    }
  }
}
