/** Tests of the meters. */
@NullMarked
package io.inferspan.kvcache.metrics;

import org.jspecify.annotations.NullMarked;
