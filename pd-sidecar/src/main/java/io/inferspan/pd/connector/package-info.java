/**
 * The connectors, one class for each protocol that transfers KV blocks between prefill and decode,
 * and the stages that only some of them have.
 */
@NullMarked
package io.inferspan.pd.connector;

import org.jspecify.annotations.NullMarked;
