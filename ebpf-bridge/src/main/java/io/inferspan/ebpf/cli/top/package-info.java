/**
 * The command {@code top}: the bridges of this machine as the kernel lists them, and a page of
 * text.
 *
 * <p>Nothing is attached, changed or held here, and no bridge is asked: one that hangs is shown as
 * well.
 */
@NullMarked
package io.inferspan.ebpf.cli.top;

import org.jspecify.annotations.NullMarked;
