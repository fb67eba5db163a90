/**
 * The command {@code top}: finds the bridges of this machine through the kernel, and prints a page
 * of text.
 *
 * <p>The command reads the bridge's maps and asks the bridge for nothing, so it also works for a
 * bridge that hangs.
 */
@NullMarked
package io.inferspan.ebpf.cli.top;

import org.jspecify.annotations.NullMarked;
