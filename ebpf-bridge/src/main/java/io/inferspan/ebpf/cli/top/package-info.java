/**
 * The command {@code top}: finds the bridges of this machine through the kernel, and prints a page
 * of text.
 *
 * <p>The command only reads kernel maps, so it works for a bridge that hangs, too.
 */
@NullMarked
package io.inferspan.ebpf.cli.top;

import org.jspecify.annotations.NullMarked;
