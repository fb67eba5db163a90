/**
 * Publishes the current span of each thread of this process to the kernel, without a system call
 * per change.
 *
 * <p>Virtual threads are not published, because the kernel sees only their carrier. Its record
 * would remain while the virtual thread waits and another one runs, and no context is better than a
 * wrong one.
 */
@NullMarked
package io.inferspan.ebpf.context;

import org.jspecify.annotations.NullMarked;
