/**
 * {@code ./demo}: starts the whole stack, sends six requests, and prints their traces.
 *
 * <p>Start reading at {@link io.inferspan.samples.demo.DemoMain}; {@code Stack} starts the
 * processes, and {@code Scenario} contains the requests. The demo records no spans; it reads the
 * traces from the trace desk.
 */
@NullMarked
package io.inferspan.samples.demo;

import org.jspecify.annotations.NullMarked;
