/**
 * Finds the functions to observe in the libraries of processes.
 *
 * <p>Contains what depends on {@code /proc} and on the table of functions. Nothing here depends on
 * events, requests or spans, and the choice of processes is the caller's.
 */
@NullMarked
package io.inferspan.ebpf.probe;

import org.jspecify.annotations.NullMarked;
