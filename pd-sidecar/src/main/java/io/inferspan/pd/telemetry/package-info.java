/**
 * The proxy's spans and metrics: one span per request and one per stage, and counters of the same
 * events.
 *
 * <p>Every metric label has a closed set of values, which are constants or names of connectors: no
 * part of a request becomes a label.
 */
@NullMarked
package io.inferspan.pd.telemetry;

import org.jspecify.annotations.NullMarked;
