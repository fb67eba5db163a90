/**
 * {@code ./demo}: the whole stack as processes, six requests through it, and their trees.
 *
 * <p>Start reading at {@link io.inferspan.samples.demo.DemoMain}; {@code Stack} says which
 * processes there are and how each is started, {@code Scene} what is asked. Nothing here traces
 * anything: the trees are what the trace desk has received from the others.
 */
@NullMarked
package io.inferspan.samples.demo;

import org.jspecify.annotations.NullMarked;
