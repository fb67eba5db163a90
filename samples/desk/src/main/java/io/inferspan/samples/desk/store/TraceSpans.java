package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import java.util.List;

/**
 * The spans of a trace that have arrived so far.
 *
 * @param spans in the order of arrival
 * @param cut the number of received spans that were dropped
 * @param quiet whether no span has arrived for {@link SpanStore#QUIET_NANOS}
 */
public record TraceSpans(TraceId id, List<StoredSpan> spans, long cut, boolean quiet) {}
