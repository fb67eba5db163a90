/**
 * Telling the kernel whom a thread of this process serves, without a system call per switch.
 *
 * <p>Here lives what writes a thread's record while a sampled span is current on it. Nothing here
 * reads events. Virtual threads are never told of: the kernel knows their carrier, which would keep
 * the record when the virtual thread waits and another one runs; no context is better than a wrong
 * one.
 */
@NullMarked
package io.inferspan.ebpf.context;

import org.jspecify.annotations.NullMarked;
