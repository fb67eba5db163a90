/**
 * Opens maps and programs in the kernel that any process has loaded or pinned.
 *
 * <p>The bridge's own maps and programs belong to a {@code BpfObject}.
 */
@NullMarked
package io.inferspan.ebpf.libbpf.loaded;

import org.jspecify.annotations.NullMarked;
