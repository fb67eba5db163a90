/**
 * Envoy's messages as values, over the classes that protoc generates from {@code ext_proc.proto}.
 *
 * <p>Nothing here knows a socket, a span or a schedule. Fields that are not in the file are
 * skipped, so that a newer Envoy is understood as far as an older one.
 */
@NullMarked
package io.inferspan.extproc.wire;

import org.jspecify.annotations.NullMarked;
