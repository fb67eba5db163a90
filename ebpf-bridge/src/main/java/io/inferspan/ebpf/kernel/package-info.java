/**
 * The programs and maps of {@code bpf} as one: loaded, attached, told what to do, and taken out.
 *
 * <p>Here lives what knows their names, their order and the memory that is shared with them. What
 * events mean, and which process is of interest, is not known here.
 */
@NullMarked
package io.inferspan.ebpf.kernel;

import org.jspecify.annotations.NullMarked;
