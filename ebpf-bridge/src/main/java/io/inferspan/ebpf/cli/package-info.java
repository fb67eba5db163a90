/**
 * The programs for the terminal: {@code agent}, {@code doctor} and {@code top}.
 *
 * <p>Command lines, text and exit statuses live here. What is true of the machine and of the bridge
 * is asked of the other rooms; nothing asks this one.
 */
@NullMarked
package io.inferspan.ebpf.cli;

import org.jspecify.annotations.NullMarked;
