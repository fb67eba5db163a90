/**
 * The connectors, one class for each protocol by which KV blocks get from the prefill pod to the
 * decoder.
 *
 * <p>A connector determines what is written into the bodies and headers of both stages, and their
 * order.
 */
@NullMarked
package io.inferspan.pd.connector;

import org.jspecify.annotations.NullMarked;
