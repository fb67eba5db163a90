/** Each program is started as its user would, and one request is sent through it. */
@NullMarked
package io.inferspan.samples.embeddings;

import org.jspecify.annotations.NullMarked;
