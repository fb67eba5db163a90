/**
 * Reads and changes JSON in place, in whole bodies and in the lines of an event stream: one scan
 * finds the relevant members, and an edit inserts new values between unchanged bytes.
 *
 * <p>Contains the JSON grammar. The meaning of members for engines and connectors is defined
 * elsewhere, except for media in chat messages.
 */
@NullMarked
package io.inferspan.pd.json;

import org.jspecify.annotations.NullMarked;
