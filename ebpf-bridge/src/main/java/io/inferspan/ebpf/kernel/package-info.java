/**
 * Loads, attaches, configures and removes the programs and maps of {@code bpf}.
 *
 * <p>Only this package depends on their names, their order and the layout of shared memory.
 */
@NullMarked
package io.inferspan.ebpf.kernel;

import org.jspecify.annotations.NullMarked;
