/** Transfers responses and bodies: passes them on, collects them, holds them back. */
@NullMarked
package io.inferspan.pd.relay;

import org.jspecify.annotations.NullMarked;
