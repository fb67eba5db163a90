/**
 * The spans of endpoint picking.
 *
 * <p>Contains {@link io.inferspan.epp.tracing.EppTracing} and its decorators. A decorator also
 * contains the failures of a plugin; the order of plugins is in {@code scheduling}.
 */
@NullMarked
package io.inferspan.epp.tracing;

import org.jspecify.annotations.NullMarked;
