/**
 * Loads and replaces capture policies: programs that decide in the kernel which calls become
 * events.
 */
@NullMarked
package io.inferspan.ebpf.policy;

import org.jspecify.annotations.NullMarked;
