/**
 * The web server: the page's files, its API and the live feed.
 *
 * <p>Values from traces are untrusted: the API returns them as JSON strings, and the page shows
 * them as text, never as markup.
 */
@NullMarked
package io.inferspan.samples.desk.web;

import org.jspecify.annotations.NullMarked;
