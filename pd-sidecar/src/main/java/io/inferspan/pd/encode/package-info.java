/**
 * Encoding a request's images, sounds and videos elsewhere: the calls, and what they bring back.
 *
 * <p>Here lives what is the same for each connector of encoders; no KV block is known here.
 */
@NullMarked
package io.inferspan.pd.encode;

import org.jspecify.annotations.NullMarked;
