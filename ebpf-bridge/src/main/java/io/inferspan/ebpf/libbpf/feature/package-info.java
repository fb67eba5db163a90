/**
 * What this kernel does for this process, found out by trying.
 *
 * <p>Here live trials that leave nothing behind. What follows for the bridge is decided elsewhere.
 */
@NullMarked
package io.inferspan.ebpf.libbpf.feature;

import org.jspecify.annotations.NullMarked;
