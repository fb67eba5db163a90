/**
 * The connectors, one class for each protocol that transfers KV blocks between prefill and decode.
 */
@NullMarked
package io.inferspan.pd.connector;

import org.jspecify.annotations.NullMarked;
