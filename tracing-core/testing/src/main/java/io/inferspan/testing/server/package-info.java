/** An HTTP server and a bounded log of what it received, for the OTLP receiver and fake engine. */
@NullMarked
package io.inferspan.testing.server;

import org.jspecify.annotations.NullMarked;
