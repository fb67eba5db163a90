/**
 * Tests of the trace desk's page: a real desk in a separate process, spans sent over OTLP, and a
 * real browser. They check what the page shows, not how the desk interprets spans.
 */
@NullMarked
package io.inferspan.samples.desk.page;

import org.jspecify.annotations.NullMarked;
