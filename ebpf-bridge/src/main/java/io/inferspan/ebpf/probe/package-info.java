/**
 * Which functions of which libraries are watched, found in the processes that map them.
 *
 * <p>Here lives what goes by {@code /proc} and by the table of functions. Nothing here knows
 * events, requests or spans, and nothing here decides which process is of interest.
 */
@NullMarked
package io.inferspan.ebpf.probe;

import org.jspecify.annotations.NullMarked;
