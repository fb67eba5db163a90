/** Benchmarks of the KV-cache index: what block keys, lookups and scores cost. */
@NullMarked
package io.inferspan.samples.kvcache;

import org.jspecify.annotations.NullMarked;
