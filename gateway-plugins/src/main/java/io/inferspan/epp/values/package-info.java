/**
 * Values of clients, on their way to spans of gateway and picker alike.
 *
 * <p>Here lives what makes them fit for a span; the package is not exported.
 */
@NullMarked
package io.inferspan.epp.values;

import org.jspecify.annotations.NullMarked;
