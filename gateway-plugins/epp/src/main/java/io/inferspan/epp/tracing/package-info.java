/**
 * The spans of endpoint picking: {@link io.inferspan.epp.tracing.EppTracing} and its decorators.
 *
 * <p>A decorator records the span of a plugin and handles its failures.
 */
@NullMarked
package io.inferspan.epp.tracing;

import org.jspecify.annotations.NullMarked;
