/**
 * Interprets traces: the tree, the distribution of time, and the path of the request.
 *
 * <p>Names of spans and attributes come from the catalogue, in all its naming schemes. Each class
 * answers one question about a trace. The classes are stateless, and invalid spans do not cause
 * exceptions.
 */
@NullMarked
package io.inferspan.samples.desk.trace;

import org.jspecify.annotations.NullMarked;
