package io.inferspan.samples.desk.otlp;

/** A received span and the id of its trace. */
public record Received(TraceId trace, StoredSpan span) {}
