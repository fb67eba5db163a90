/**
 * Reads and changes JSON in place, in whole bodies and in the lines of an event stream: one scan
 * finds the relevant members, and an edit inserts new values between unchanged bytes.
 */
@NullMarked
package io.inferspan.pd.json;

import org.jspecify.annotations.NullMarked;
