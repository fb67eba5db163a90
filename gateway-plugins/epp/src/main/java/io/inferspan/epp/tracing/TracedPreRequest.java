package io.inferspan.epp.tracing;

import io.inferspan.OperationSpan;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;

/** Decorates a pre-request plugin, with a span if it prepares disaggregation. */
final class TracedPreRequest implements PreRequest {

  private final EppTracing tracing;
  private final PreRequest preRequest;

  TracedPreRequest(EppTracing tracing, PreRequest preRequest) {
    this.tracing = tracing;
    this.preRequest = preRequest;
  }

  @Override
  public String type() {
    return preRequest.type();
  }

  @Override
  public String name() {
    return preRequest.name();
  }

  @Override
  public boolean preparesDisaggregation() {
    return preRequest.preparesDisaggregation();
  }

  @Override
  public void prepare(SchedulingResult result, Headers headers) {
    if (preRequest.preparesDisaggregation()) {
      prepareTraced(result, headers);
    } else {
      prepareUntraced(result, headers);
    }
  }

  private void prepareTraced(SchedulingResult result, Headers headers) {
    try (OperationSpan span = tracing.preRequest(result, result.cycle().context())) {
      try {
        preRequest.prepare(result, headers);
      } catch (RuntimeException | LinkageError e) {
        span.fail(e);
      }
    }
  }

  private void prepareUntraced(SchedulingResult result, Headers headers) {
    try {
      preRequest.prepare(result, headers);
    } catch (RuntimeException | LinkageError e) {
      QuietLog.failed(preRequest, e);
    }
  }
}
