/** The proxy's spans: one per request, one per stage, and the end-to-end times on the request's. */
@NullMarked
package io.inferspan.pd.tracing;

import org.jspecify.annotations.NullMarked;
