/**
 * Publishes to the kernel which span a thread of this process serves, without a system call per
 * switch.
 *
 * <p>Contains the writer of a thread's record while a sampled span is current on it. Nothing here
 * reads events. Virtual threads are not published: the kernel knows their carrier, which would keep
 * the record while the virtual thread waits and another one runs. No context is better than a wrong
 * one.
 */
@NullMarked
package io.inferspan.ebpf.context;

import org.jspecify.annotations.NullMarked;
