/**
 * Where in its file a function of a library begins, which is how the kernel wants to be told.
 *
 * <p>Here lives the reading of ELF files, which belong to others and may be broken or hostile:
 * every read is bounded. Nothing here loads a library, looks at a process or knows what a probe is.
 */
@NullMarked
package io.inferspan.ebpf.elf;

import org.jspecify.annotations.NullMarked;
