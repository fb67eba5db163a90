/**
 * Transfers responses and bodies: passes them on, collects them, holds them back.
 *
 * <p>Contains what connects a client's exchange to an engine's call. Routing is decided elsewhere.
 */
@NullMarked
package io.inferspan.pd.relay;

import org.jspecify.annotations.NullMarked;
