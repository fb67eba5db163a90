/** Checks which prerequisites of the bridge this machine has, and which it lacks. */
@NullMarked
package io.inferspan.ebpf.support;

import org.jspecify.annotations.NullMarked;
