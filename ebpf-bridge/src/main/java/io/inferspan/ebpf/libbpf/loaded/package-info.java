/**
 * Maps and programs in the kernel, loaded by any process.
 *
 * <p>Contains what opens objects that others create or will open. The bridge's own maps and
 * programs belong to a {@code BpfObject}.
 */
@NullMarked
package io.inferspan.ebpf.libbpf.loaded;

import org.jspecify.annotations.NullMarked;
