package io.inferspan.epp;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that were chosen for a request.
 *
 * @param cycle the cycle that chose them
 * @param targets endpoints that answer the client, best first; empty after a failure
 * @param prefill endpoints that prefill; null if that stage did not run
 * @param encode endpoints that encode media; null if that stage did not run
 * @param failure why there is no target, or null
 */
public record SchedulingResult(
    Cycle cycle,
    List<Endpoint> targets,
    @Nullable List<Endpoint> prefill,
    @Nullable List<Endpoint> encode,
    @Nullable String failure) {

  /** Returns a result without prefill and encode stages; a failure if there is no target. */
  public static SchedulingResult to(Cycle cycle, List<Endpoint> targets) {
    return targets.isEmpty()
        ? failed(cycle, "no endpoint is available")
        : new SchedulingResult(cycle, targets, null, null, null);
  }

  /** Returns a failure. */
  public static SchedulingResult failed(Cycle cycle, String reason) {
    return new SchedulingResult(cycle, List.of(), null, null, reason);
  }

  /** Returns a copy with the other stages; null for one that did not run. */
  public SchedulingResult withStages(
      @Nullable List<Endpoint> prefill, @Nullable List<Endpoint> encode) {
    return new SchedulingResult(cycle, targets, prefill, encode, failure);
  }

  /** Returns the endpoint that answers the client, or null after a failure. */
  public @Nullable Endpoint target() {
    return first(targets);
  }

  /** Returns the endpoint that prefills, or null if there is none. */
  public @Nullable Endpoint prefillTarget() {
    return first(prefill);
  }

  private static @Nullable Endpoint first(@Nullable List<Endpoint> endpoints) {
    return endpoints == null || endpoints.isEmpty() ? null : endpoints.get(0);
  }
}
