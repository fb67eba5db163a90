/**
 * Loads, attaches, configures and removes the programs and maps of {@code bpf}.
 *
 * <p>Recorders of stacks and of cold starts, and capture policies, have programs of their own,
 * which their packages load.
 */
@NullMarked
package io.inferspan.ebpf.kernel;

import org.jspecify.annotations.NullMarked;
