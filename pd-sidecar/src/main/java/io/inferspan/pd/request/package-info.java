/**
 * A live request and the stages it goes through: how each is sent, traced, counted and cancelled.
 *
 * <p>Here lives what all connectors share. What one of them does differently is in its own class,
 * in the room of the connectors.
 */
@NullMarked
package io.inferspan.pd.request;

import org.jspecify.annotations.NullMarked;
