/**
 * Publishes the current span of each thread of this process to the kernel. A change costs no system
 * call, unless contexts are also shared with other tools ({@link ContextListener}).
 *
 * <p>Virtual threads are not published, because the kernel sees only their carrier. Its record
 * would remain while the virtual thread waits and another one runs, and no context is better than a
 * wrong one.
 */
@NullMarked
package io.inferspan.ebpf.context;

import org.jspecify.annotations.NullMarked;
