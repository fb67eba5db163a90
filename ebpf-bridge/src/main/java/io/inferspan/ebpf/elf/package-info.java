/**
 * Maps between functions and file offsets of ELF programs and libraries.
 *
 * <p>ELF files may be broken or hostile, so every read is bounded. The package does not load
 * libraries, and does not depend on processes or probes.
 */
@NullMarked
package io.inferspan.ebpf.elf;

import org.jspecify.annotations.NullMarked;
