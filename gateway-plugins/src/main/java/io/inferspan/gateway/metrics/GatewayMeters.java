package io.inferspan.gateway.metrics;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.inferspan.response.ResponseTap;
import io.inferspan.values.BoundedNames;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Records the metrics of the GenAI conventions, with their names and buckets, for the requests of a
 * gateway. Also counts requests and tokens by tenant.
 *
 * <p>Thread-safe; no method throws. A request's context is current while its metrics are recorded,
 * so that a registry takes exemplars from its span.
 */
public final class GatewayMeters {

  // The buckets of the GenAI conventions.

  private static final double[] FIRST_TOKEN_SECONDS = {
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
  };

  private static final double[] PER_TOKEN_SECONDS = {
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5
  };

  private static final double[] REQUEST_SECONDS = {
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92
  };

  private static final double[] TOKENS = {
    1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864
  };

  private static final Logger LOGGER = System.getLogger("io.inferspan.gateway");
  private static final String NO_TENANT = "none";
  private static final Set<String> OPERATIONS =
      Set.of(
          "chat", "text_completion", "embeddings", "generate_content", "retrieval", "execute_tool");

  private final BoundedNames models;
  private final BoundedNames tenants;
  private final Series<Timer> durations;
  private final Series<Timer> firstTokens;
  private final Series<Timer> perToken;
  private final Series<DistributionSummary> promptTokens;
  private final Series<DistributionSummary> completionTokens;
  private final MeterRegistry registry;

  /**
   * Registers the meters.
   *
   * @param maxModels the maximum number of models with their own tag
   * @param maxTenants the maximum number of tenants with their own tag
   */
  public GatewayMeters(MeterRegistry registry, int maxModels, int maxTenants) {
    this.registry = registry;
    this.models = new BoundedNames(maxModels);
    this.tenants = new BoundedNames(maxTenants);
    this.durations =
        timers(
            registry,
            "gen_ai.server.request.duration",
            "Time from arrival to the end of a request",
            REQUEST_SECONDS);
    this.firstTokens =
        timers(
            registry,
            "gen_ai.server.time_to_first_token",
            "Time from arrival to the first token of a stream",
            FIRST_TOKEN_SECONDS);
    this.perToken =
        timers(
            registry,
            "gen_ai.server.time_per_output_token",
            "Time per token after the first one of a stream",
            PER_TOKEN_SECONDS);
    this.promptTokens = tokens(registry, "input");
    this.completionTokens = tokens(registry, "output");
  }

  /** The tags of a meter's time series. */
  private record Labels(String model, String operation, Outcome outcome) {
    Tags tags() {
      return Tags.of(
          "gen_ai.request.model", model,
          "gen_ai.operation.name", operation,
          "outcome", outcome.label());
    }
  }

  /** A meter's time series, each created when it is first recorded. */
  private record Series<M extends Meter>(Map<Labels, M> registered, Function<Labels, M> register) {
    M of(Labels labels) {
      M known = registered.get(labels);
      return known != null ? known : registered.computeIfAbsent(labels, register);
    }
  }

  private static Series<Timer> timers(
      MeterRegistry registry, String name, String description, double[] seconds) {
    Duration[] bounds = new Duration[seconds.length];
    for (int i = 0; i < seconds.length; i++) {
      bounds[i] = Duration.ofNanos(Math.round(seconds[i] * TimeUnit.SECONDS.toNanos(1)));
    }
    return new Series<>(
        new ConcurrentHashMap<>(),
        labels ->
            Timer.builder(name)
                .description(description)
                .tags(labels.tags())
                .serviceLevelObjectives(bounds)
                .register(registry));
  }

  private static Series<DistributionSummary> tokens(MeterRegistry registry, String type) {
    return new Series<>(
        new ConcurrentHashMap<>(),
        labels ->
            DistributionSummary.builder("gen_ai.client.token.usage")
                .description("Tokens of a request, as reported by the engine")
                .tags(labels.tags().and("gen_ai.token.type", type))
                .serviceLevelObjectives(TOKENS)
                .register(registry));
  }

  /**
   * Counts a request that has ended.
   *
   * @param response the observed response, or null
   */
  public void record(Served request, @Nullable ResponseTap response, Context context) {
    try (Scope ignored = context.makeCurrent()) {
      Labels labels = labels(request);
      record(request, response, labels);
      recordCost(tenant(request), response, labels);
    } catch (RuntimeException e) {
      // For example, the registry has a meter of this name with other tags.
      LOGGER.log(Level.DEBUG, "A request could not be counted", e);
    }
  }

  /** Returns whether a request for this model has succeeded and the model has its own tag. */
  public boolean hasServed(String model) {
    return models.knows(model);
  }

  private Labels labels(Served request) {
    return new Labels(
        models.tag(request.model(), request.outcome() == Outcome.SUCCESS),
        OPERATIONS.contains(request.operation()) ? request.operation() : BoundedNames.OTHER,
        request.outcome());
  }

  private String tenant(Served request) {
    return request.tenant() == null
        ? NO_TENANT
        : tenants.tag(request.tenant(), request.outcome() == Outcome.SUCCESS);
  }

  private void recordCost(String tenant, @Nullable ResponseTap response, Labels labels) {
    Tags tags = Tags.of("tenant", tenant, "gen_ai.request.model", labels.model());
    cost("inferspan.tenant.requests", tags.and("outcome", labels.outcome().label())).increment();
    if (response != null) {
      countTokens(response.promptTokens(), tags, "input");
      countTokens(response.cachedTokens(), tags, "cached");
      countTokens(response.generatedTokens(), tags, "output");
      countTokens(response.reasoningTokens(), tags, "reasoning");
    }
  }

  private void countTokens(long tokens, Tags tags, String type) {
    if (tokens > 0) {
      cost("inferspan.tenant.tokens", tags.and("gen_ai.token.type", type))
          .increment((double) tokens);
    }
  }

  private Counter cost(String name, Tags tags) {
    return Counter.builder(name)
        .description("Usage by tenant, of all requests")
        .tags(tags)
        .register(registry);
  }

  private void record(Served request, @Nullable ResponseTap response, Labels labels) {
    durations.of(labels).record(request.endedNanos() - request.arrivedNanos(), NANOSECONDS);
    if (response != null) {
      record(response, request.arrivedNanos(), labels);
    }
  }

  private void record(ResponseTap response, long arrivedNanos, Labels labels) {
    if (response.hasFirstToken()) {
      firstTokens.of(labels).record(response.firstTokenNanos() - arrivedNanos, NANOSECONDS);
    }
    long generated = Math.max(response.completionTokens(), response.tokens());
    int choices = response.choices();
    if (labels.outcome() == Outcome.SUCCESS && response.tokens() > choices) {
      // The choices are generated concurrently, each with its share of the tokens.
      long nanos = response.lastTokenNanos() - response.firstTokenNanos();
      perToken.of(labels).record(nanos * choices / (generated - choices), NANOSECONDS);
    }
    if (response.promptTokens() >= 0) {
      promptTokens.of(labels).record((double) response.promptTokens());
    }
    if (response.generatedTokens() >= 0) {
      completionTokens.of(labels).record((double) response.generatedTokens());
    }
  }
}
