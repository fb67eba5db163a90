/**
 * The sidecar's metrics: their names and their counters.
 *
 * <p>Every label has a closed set of values, which are constants or names of connectors: no part of
 * a request becomes a label.
 */
@NullMarked
package io.inferspan.pd.metrics;

import org.jspecify.annotations.NullMarked;
