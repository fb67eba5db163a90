/**
 * Kernel features available to this process, found by probing.
 *
 * <p>The probes leave nothing behind. Their consequences for the bridge are decided elsewhere.
 */
@NullMarked
package io.inferspan.ebpf.libbpf.feature;

import org.jspecify.annotations.NullMarked;
