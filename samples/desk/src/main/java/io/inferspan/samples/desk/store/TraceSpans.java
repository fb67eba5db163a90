package io.inferspan.samples.desk.store;

import io.inferspan.samples.desk.otlp.StoredSpan;
import io.inferspan.samples.desk.otlp.TraceId;
import java.util.List;

/**
 * What has come of a trace by now.
 *
 * @param spans in the order in which they came
 * @param cut how many more came than are kept
 * @param quiet whether nothing has come for a while
 */
public record TraceSpans(TraceId id, List<StoredSpan> spans, long cut, boolean quiet) {}
