/**
 * The spans of endpoint picking: {@link io.inferspan.epp.tracing.EppTracing}, and decorators that
 * record the span of a plugin and handle its failures.
 */
@NullMarked
package io.inferspan.epp.tracing;

import org.jspecify.annotations.NullMarked;
