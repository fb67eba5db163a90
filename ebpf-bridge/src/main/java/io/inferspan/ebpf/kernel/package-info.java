/**
 * The programs and maps of {@code bpf} as one unit: loaded, attached, configured and removed.
 *
 * <p>Contains what depends on their names, their order and the shared memory. The meaning of events
 * and the choice of processes are elsewhere.
 */
@NullMarked
package io.inferspan.ebpf.kernel;

import org.jspecify.annotations.NullMarked;
