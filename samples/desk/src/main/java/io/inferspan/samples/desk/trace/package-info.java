/**
 * Interprets traces: builds the tree, finds the components of the request, and attributes its time.
 *
 * <p>Names of spans and attributes come from the catalogue, in all its naming schemes. Invalid
 * spans do not cause exceptions.
 */
@NullMarked
package io.inferspan.samples.desk.trace;

import org.jspecify.annotations.NullMarked;
