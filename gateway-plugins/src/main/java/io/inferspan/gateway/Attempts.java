package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.semconv.GatewayAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The calls to engines for one request. Callers hold the lock of the request. */
final class Attempts {

  /** For requests that are not recorded. */
  static final Attempts UNSEEN = new Attempts(List.of());

  private final List<UpstreamAttempt> open;
  private @Nullable UpstreamAttempt last;
  private int count;

  private Attempts(List<UpstreamAttempt> open) {
    this.open = open;
  }

  static Attempts none() {
    return new Attempts(new ArrayList<>(1));
  }

  /** Returns the number of the next attempt, from 0. */
  int next() {
    return count++;
  }

  void add(UpstreamAttempt attempt) {
    last = attempt;
    open.add(attempt);
  }

  void remove(UpstreamAttempt attempt) {
    open.remove(attempt);
  }

  List<UpstreamAttempt> open() {
    return List.copyOf(open);
  }

  @Nullable UpstreamAttempt last() {
    return last;
  }

  boolean isLast(UpstreamAttempt attempt) {
    return attempt.equals(last);
  }

  /**
   * Records on the request's span the number of attempts, and the target and status of the last
   * one.
   */
  void describe(OperationSpan span) {
    UpstreamAttempt engine = last;
    if (engine != null) {
      span.set(GatewayAttributes.ATTEMPTS, count);
      engine.target().describe(span);
      if (engine.status() > 0) {
        span.set(GatewayAttributes.UPSTREAM_STATUS_CODE, engine.status());
      }
    }
  }
}
