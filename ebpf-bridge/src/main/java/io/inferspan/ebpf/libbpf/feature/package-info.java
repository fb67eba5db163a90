/**
 * Kernel features available to this process, found by probing.
 *
 * <p>Each probe tries an operation and releases whatever it created.
 */
@NullMarked
package io.inferspan.ebpf.libbpf.feature;

import org.jspecify.annotations.NullMarked;
