/**
 * Envoy's messages as values, based on the classes that protoc generates from {@code
 * ext_proc.proto}.
 *
 * <p>Nothing here depends on sockets, spans or scheduling. Unknown fields are skipped, so that
 * newer versions of Envoy work.
 */
@NullMarked
package io.inferspan.extproc.wire;

import org.jspecify.annotations.NullMarked;
