/**
 * JSON bodies read and changed in place: one scan finds the few members that matter, an edit
 * splices new values between untouched bytes.
 *
 * <p>Here lives what knows JSON's grammar. What a member means to an engine or a connector does not
 * live here, with one exception: where chat messages carry media.
 */
@NullMarked
package io.inferspan.pd.json;

import org.jspecify.annotations.NullMarked;
