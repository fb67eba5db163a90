package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.semconv.GatewayAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The calls to engines for one request. Callers hold the lock of the request. */
final class Attempts {

  /** The shared instance for unobserved requests. */
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

  /** Sets the number of attempts, and the last one's target and status, on the request's span. */
  void describe(OperationSpan span) {
    UpstreamAttempt attempt = last;
    if (attempt != null) {
      span.set(GatewayAttributes.ATTEMPTS, count);
      attempt.target().describe(span);
      if (attempt.status() > 0) {
        span.set(GatewayAttributes.UPSTREAM_STATUS_CODE, attempt.status());
      }
    }
  }
}
