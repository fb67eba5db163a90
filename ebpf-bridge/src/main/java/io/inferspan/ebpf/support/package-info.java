/** What this machine offers the bridge, and what is missing. */
@NullMarked
package io.inferspan.ebpf.support;

import org.jspecify.annotations.NullMarked;
