/**
 * What a trace means: its tree, where its time went, what the request's way was.
 *
 * <p>Names of spans and attributes come from the catalogue, in all its generations. Each class
 * answers one question of the spans that it is given; nothing here is kept, and nothing throws
 * because of what a span says.
 */
@NullMarked
package io.inferspan.samples.desk.trace;

import org.jspecify.annotations.NullMarked;
