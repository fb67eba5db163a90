/** Checks whether this machine meets the prerequisites of the bridge. */
@NullMarked
package io.inferspan.ebpf.support;

import org.jspecify.annotations.NullMarked;
