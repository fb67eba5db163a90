/**
 * Finds processes and libraries, and attaches probes to the functions to observe.
 *
 * <p>Nothing here reads events or depends on requests or spans.
 */
@NullMarked
package io.inferspan.ebpf.probe;

import org.jspecify.annotations.NullMarked;
