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
 * Picks endpoints like llm-d: runs the profiles that the profile handler selects, until the handler
 * selects no more.
 *
 * <p>A plugin's exception does not reach the caller. It is recorded on the plugin's span or, if
 * there is none, logged. Asynchronous scorers that miss the deadline of the cycle are ignored. All
 * methods may be called on an event loop.
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

  /** Creates a builder for a scheduler with this profile handler. */
  public static Builder builder(ProfileHandler handler) {
    return new Builder(handler);
  }

  /**
   * Picks endpoints for a request.
   *
   * @param candidates the available endpoints
   * @param context the trace context in which the plugins run
   * @return a stage that never fails. Without asynchronous scorers it is already complete.
   *     Otherwise it completes on the thread of the last scorer's result or, after a timeout, on
   *     the JDK's single thread for timeouts, which dependent stages must not block
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

  /** Calls the pre-request plugins before the request is sent. */
  public void prepare(SchedulingResult result, PreRequest.Headers headers) {
    preRequests.forEach(each -> each.prepare(result, headers));
  }

  private CompletionStage<SchedulingResult> stage(
      Cycle cycle, List<Endpoint> candidates, Map<String, List<Endpoint>> results) {
    List<ProfileRunner> chosen = choose(cycle, results);
    if (chosen.isEmpty()) {
      return CompletableFuture.completedFuture(counted(handler.conclude(cycle, results)));
    }
    CompletionStage<Map<String, List<Endpoint>>> ran = CompletableFuture.completedFuture(results);
    for (ProfileRunner profile : chosen) {
      ran = ran.thenCompose(soFar -> run(profile, cycle, candidates, soFar));
    }
    return ran.thenCompose(all -> stage(cycle, candidates, all));
  }

  private SchedulingResult counted(SchedulingResult result) {
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
            "two profiles have the name " + profile.name + "; each needs its own name");
      }
      return this;
    }

    /** Adds a pre-request plugin. The plugins are called in the order in which they were added. */
    public Builder preRequest(PreRequest preRequest) {
      preRequests.add(preRequest);
      return this;
    }

    /** Sets the tracing; by default no spans are recorded. */
    public Builder tracing(EppTracing tracing) {
      this.tracing = tracing;
      return this;
    }

    /**
     * Counts decisions of handlers with more than one stage, in llm-d's {@code
     * llm_d_epp_disagg_decision_total}; by default they are not counted.
     *
     * @param served returns whether engines serve this model, without blocking; the tag of all
     *     other models is {@code other}, because clients can invent names. Use {@code
     *     GatewayTracing::hasServed}, which learns models from successful requests, or a fixed set.
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
            "the timeout of the scheduler is " + timeout + ", but must be above 0");
      }
      this.timeout = timeout;
      return this;
    }

    /** Builds the scheduler and records the startup span. */
    public Scheduler build() {
      try (OperationSpan span = tracing.startup("scheduler", "build")) {
        try {
          if (profiles.isEmpty()) {
            throw new IllegalArgumentException("the scheduler has no profile; add at least one");
          }
          return new Scheduler(this);
        } catch (RuntimeException e) {
          span.fail(e);
          throw e;
        }
      }
    }
  }
}
