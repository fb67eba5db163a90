/**
 * The commands of {@code inferspan-ebpf-bridge.jar}, such as {@code agent}, {@code doctor} and
 * {@code record}.
 *
 * <p>The package holds command lines, messages and exit statuses. No other package depends on it.
 */
@NullMarked
package io.inferspan.ebpf.cli;

import org.jspecify.annotations.NullMarked;
