/**
 * The eBPF bridge: records kernel and CUDA events as child spans of the request that caused them.
 *
 * <p>This package is the bridge's API.
 */
@NullMarked
package io.inferspan.ebpf;

import org.jspecify.annotations.NullMarked;
