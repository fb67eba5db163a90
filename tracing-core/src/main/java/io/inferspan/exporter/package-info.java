/** Additional exporters, and the accounting of spans for any exporter. */
@NullMarked
package io.inferspan.exporter;

import org.jspecify.annotations.NullMarked;
