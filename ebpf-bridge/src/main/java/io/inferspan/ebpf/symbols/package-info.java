/**
 * Names of the functions that stacks consist of.
 *
 * <p>The sources are ELF files, the perf map that a runtime writes of what it compiled, and the
 * kernel's own list. What none of them names is {@code module+0xaddress}, never a neighbour's name.
 */
@NullMarked
package io.inferspan.ebpf.symbols;

import org.jspecify.annotations.NullMarked;
