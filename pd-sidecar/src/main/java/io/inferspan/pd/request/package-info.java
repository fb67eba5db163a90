/**
 * An active request and its stages: each is sent, traced, counted and cancelled here.
 *
 * <p>Contains what all connectors share. Each connector has its own class in {@code connector}.
 */
@NullMarked
package io.inferspan.pd.request;

import org.jspecify.annotations.NullMarked;
