package io.inferspan.kvcache;

import io.inferspan.OperationSpan;
import io.inferspan.kvcache.index.KvBatchObserver.Observation;
import io.opentelemetry.context.Context;

/** The span of a batch of events while it is applied to the index. */
final class TracedBatch implements Observation {

  private final OperationSpan span;

  private TracedBatch(OperationSpan span) {
    this.span = span;
  }

  @SuppressWarnings("ReferenceEquality") // without tracing the context is the root
  static Observation of(OperationSpan span) {
    return span.context() == Context.root() ? Observation.NONE : new TracedBatch(span);
  }

  @Override
  public Context context() {
    return span.context();
  }

  @Override
  public void close() {
    span.close();
  }
}
