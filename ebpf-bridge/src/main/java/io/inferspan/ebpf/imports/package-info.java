/**
 * Reads files of other tools into stacks or spans.
 *
 * <p>An error in a file's format is reported with its line and column.
 */
@NullMarked
package io.inferspan.ebpf.imports;

import org.jspecify.annotations.NullMarked;
