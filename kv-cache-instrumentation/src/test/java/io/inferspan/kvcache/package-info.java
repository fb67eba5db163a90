/** Tests of the indexer and its spans. */
@NullMarked
package io.inferspan.kvcache;

import org.jspecify.annotations.NullMarked;
