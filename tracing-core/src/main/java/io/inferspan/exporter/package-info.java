/** Exporters of our own, and the count of spans on their way to any exporter. */
@NullMarked
package io.inferspan.exporter;

import org.jspecify.annotations.NullMarked;
