/**
 * From ended spans to bytes that leave: the books of what left and what was lost, and the
 * JSON-lines exporter.
 *
 * <p>What may leave is decided in {@code io.inferspan.privacy}, before it comes here.
 */
@NullMarked
package io.inferspan.export;

import org.jspecify.annotations.NullMarked;
