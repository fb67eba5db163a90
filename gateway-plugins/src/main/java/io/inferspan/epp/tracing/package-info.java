/**
 * The spans of endpoint picking.
 *
 * <p>Here live {@link io.inferspan.epp.tracing.EppTracing} and the decorators it makes. A decorator
 * also holds off what a plugin throws; how plugins work together is in {@code scheduling}.
 */
@NullMarked
package io.inferspan.epp.tracing;

import org.jspecify.annotations.NullMarked;
