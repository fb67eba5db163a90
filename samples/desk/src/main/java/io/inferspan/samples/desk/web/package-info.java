/**
 * The page's server: its files, its API, and the live feed.
 *
 * <p>Here lives HTTP and JSON. What came over the wire is only ever written as JSON text; the page
 * shows it as text.
 */
@NullMarked
package io.inferspan.samples.desk.web;

import org.jspecify.annotations.NullMarked;
