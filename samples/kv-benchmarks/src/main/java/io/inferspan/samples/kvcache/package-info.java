/** Benchmarks of the KV-cache index: block keys, lookups, scores and event ingestion. */
@NullMarked
package io.inferspan.samples.kvcache;

import org.jspecify.annotations.NullMarked;
