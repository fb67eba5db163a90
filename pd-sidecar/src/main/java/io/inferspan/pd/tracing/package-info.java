/**
 * The proxy's spans: one per request, one per stage, and the end-to-end times on the request's.
 *
 * <p>Here lives what knows how the tree looks in each generation of span names. It moves no bytes.
 */
@NullMarked
package io.inferspan.pd.tracing;

import org.jspecify.annotations.NullMarked;
