/**
 * Finds processes and libraries, and attaches probes to the functions to observe.
 *
 * <p>Nothing here depends on events, requests or spans.
 */
@NullMarked
package io.inferspan.ebpf.probe;

import org.jspecify.annotations.NullMarked;
