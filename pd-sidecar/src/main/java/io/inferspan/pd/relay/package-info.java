/**
 * Moving answers and bodies: pass them on as they come, gather them, hold them back.
 *
 * <p>Here lives what is between a client's exchange and an engine's call. It decides nothing about
 * where a request goes.
 */
@NullMarked
package io.inferspan.pd.relay;

import org.jspecify.annotations.NullMarked;
