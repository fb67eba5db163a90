package io.inferspan.samples.desk.otlp;

/** A span that has come, and the trace it is of. */
public record Received(TraceId trace, StoredSpan span) {}
