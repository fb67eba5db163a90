/** Tests that start each program as its user would and send one request through it. */
@NullMarked
package io.inferspan.samples.embeddings;

import org.jspecify.annotations.NullMarked;
