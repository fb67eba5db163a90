/**
 * The trace desk's page, as a reader meets it: a real desk in a process of its own, spans sent to
 * it over OTLP, and a real browser. What the page shows is looked at here; what the desk makes of
 * spans is not.
 */
@NullMarked
package io.inferspan.samples.desk.page;

import org.jspecify.annotations.NullMarked;
