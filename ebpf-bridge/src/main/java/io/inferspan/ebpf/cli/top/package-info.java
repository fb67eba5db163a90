/**
 * The command {@code top}: finds the bridges of this machine through the kernel, and prints a page
 * of text.
 *
 * <p>It attaches, changes and holds nothing, and reads kernel maps only, so it shows a bridge that
 * hangs, too.
 */
@NullMarked
package io.inferspan.ebpf.cli.top;

import org.jspecify.annotations.NullMarked;
