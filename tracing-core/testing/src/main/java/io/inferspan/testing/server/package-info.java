/**
 * What the OTLP receiver and the fake engine have in common: an HTTP server, and a log of what it
 * received.
 */
@NullMarked
package io.inferspan.testing.server;

import org.jspecify.annotations.NullMarked;
