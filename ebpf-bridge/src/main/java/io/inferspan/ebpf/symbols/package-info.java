/**
 * Resolves the addresses of stacks to function names.
 *
 * <p>The sources are ELF files, the perf map in which a runtime lists its compiled code, and the
 * kernel's symbol list. An address of a process that has no symbol is {@code module+0xaddress},
 * never the name of a neighbouring function.
 */
@NullMarked
package io.inferspan.ebpf.symbols;

import org.jspecify.annotations.NullMarked;
