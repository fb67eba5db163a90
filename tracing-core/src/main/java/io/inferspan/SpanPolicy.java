package io.inferspan;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.semconv.GenAiConvention;

/**
 * How spans are written: what does not change while a telemetry lives.
 *
 * @param naming the generation of span names
 * @param convention which keys renamed GenAI attributes get
 * @param exceptionMessages whether the messages of exceptions may leave the process
 */
record SpanPolicy(SpanNaming naming, GenAiConvention convention, boolean exceptionMessages) {}
