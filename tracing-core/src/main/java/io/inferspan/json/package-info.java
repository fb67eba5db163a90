/**
 * The scanner of JSON, for bodies that are watched as they pass and for those that are here whole.
 *
 * <p>It knows no API: a grammar names the places, and a sink takes what stands there.
 */
@NullMarked
package io.inferspan.json;

import org.jspecify.annotations.NullMarked;
