/**
 * The sidecar's numbers: what they are called, what counts them, and the port they are read from.
 *
 * <p>Here lives nothing that decides. Every label has a closed set of values, and every value is an
 * enum constant: nothing of a request becomes a label.
 */
@NullMarked
package io.inferspan.pd.metrics;

import org.jspecify.annotations.NullMarked;
