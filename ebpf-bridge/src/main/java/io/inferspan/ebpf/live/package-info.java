/** Runs a bridge, which connects the other packages, and reports its status and meters. */
@NullMarked
package io.inferspan.ebpf.live;

import org.jspecify.annotations.NullMarked;
