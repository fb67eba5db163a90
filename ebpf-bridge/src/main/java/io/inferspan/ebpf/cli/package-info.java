/**
 * The programs for the terminal: {@code agent}, {@code doctor} and {@code top}.
 *
 * <p>The package holds command lines, messages and exit statuses. No other package depends on it.
 */
@NullMarked
package io.inferspan.ebpf.cli;

import org.jspecify.annotations.NullMarked;
