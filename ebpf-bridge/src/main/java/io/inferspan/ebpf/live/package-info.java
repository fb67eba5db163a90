/** Connects the other packages to a running bridge, with its status and meters. */
@NullMarked
package io.inferspan.ebpf.live;

import org.jspecify.annotations.NullMarked;
