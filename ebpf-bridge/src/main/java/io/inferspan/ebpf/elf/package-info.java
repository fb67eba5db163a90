/**
 * Where in its file a function of a library begins, and which function lies at a place in a file.
 *
 * <p>ELF files belong to others and may be broken or hostile: every read is bounded. Nothing here
 * loads a library, looks at a process or knows what a probe is.
 */
@NullMarked
package io.inferspan.ebpf.elf;

import org.jspecify.annotations.NullMarked;
