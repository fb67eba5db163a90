/**
 * {@code ./demo}: the whole stack as processes, six requests through it, and their trees.
 *
 * <p>Start reading at {@link io.inferspan.samples.demo.DemoMain}; {@code Stack} starts the
 * processes, and {@code Scene} has the requests. Nothing here records spans: the trees come from
 * the trace desk.
 */
@NullMarked
package io.inferspan.samples.demo;

import org.jspecify.annotations.NullMarked;
