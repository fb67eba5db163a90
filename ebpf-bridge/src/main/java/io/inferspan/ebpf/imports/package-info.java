/**
 * Files of other tools, read into stacks or spans.
 *
 * <p>What is not of the format that it claims to be is refused with its line and column.
 */
@NullMarked
package io.inferspan.ebpf.imports;

import org.jspecify.annotations.NullMarked;
