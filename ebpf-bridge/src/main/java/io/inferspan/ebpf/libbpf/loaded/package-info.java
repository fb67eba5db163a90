/**
 * Maps and programs that the kernel holds, whoever made them.
 *
 * <p>Here lives opening what others made, or will open. What the bridge makes for itself belongs to
 * an object.
 */
@NullMarked
package io.inferspan.ebpf.libbpf.loaded;

import org.jspecify.annotations.NullMarked;
